#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "data/image_testing.h"

namespace regroup {

// Small sets in the layouts of large published ones. Photos are squares whose shade is the class.

using WriteFile = std::function<void(const std::string& name, const Bytes& content)>;

/// How many photos of each class there are.
struct ReleaseSizes {
  int train = 6, validation = 1, test = 2;
};

inline Bytes text_bytes(const std::string& text) { return {text.begin(), text.end()}; }

inline Bytes class_photo(int label, int number) {
  const auto shade = static_cast<std::uint8_t>(5 * label), other = static_cast<std::uint8_t>(7 * number % 50);
  return jpeg_bytes(plain_image({36, 44}, shade, static_cast<std::uint8_t>(255 - shade), other));
}

/// Clothing1M: every third training photo has the label of the next class; people have looked at every second one.
/// `place` is where the text files lie: "" or "annotations/".
inline void write_clothing1m(const WriteFile& write, const ReleaseSizes& sizes = {}, const std::string& place = "") {
  constexpr int classes = 14;
  std::string names, train, validation, test, clean_train, noisy, clean;
  int number = 0;
  const auto add = [&](int label, std::string& list) {
    const std::string key = fmt::format("images/{}/{:02}/{},{}.jpg", label % 10, number % 100, 1000 + number, number);
    list += key + "\n";
    write(key, class_photo(label, ++number));
    return key;
  };
  for (int label = 0; label < classes; ++label) {
    names += fmt::format("Garment {}\n", label);
    for (int i = 0; i < sizes.train; ++i) {
      const std::string key = add(label, train);
      noisy += fmt::format("{} {}\n", key, i % 3 == 2 ? (label + 1) % classes : label);
      if (i % 2 == 0) clean += fmt::format("{} {}\n", key, label);
    }
    for (int i = 0; i < sizes.validation; ++i) clean += fmt::format("{} {}\n", add(label, validation), label);
    for (int i = 0; i < sizes.test; ++i) clean += fmt::format("{} {}\n", add(label, test), label);
    clean += fmt::format("{} {}\n", add(label, clean_train), label);
  }
  write(place + "category_names_eng.txt", text_bytes(names));
  write(place + "noisy_train_key_list.txt", text_bytes(train));
  write(place + "clean_train_key_list.txt", text_bytes(clean_train));
  write(place + "clean_val_key_list.txt", text_bytes(validation));
  write(place + "clean_test_key_list.txt", text_bytes(test));
  write(place + "noisy_label_kv.txt", text_bytes(noisy));
  write(place + "clean_label_kv.txt", text_bytes(clean));
}

/// WebVision with 60 classes, of which photos are there of the first 50. ILSVRC12's lie in `imagenet`/val, where that
/// is not empty.
inline void write_webvision(const WriteFile& write, const ReleaseSizes& sizes = {},
                            const std::string& imagenet = "imagenet") {
  constexpr int classes = 60, used = 50;
  std::string synsets, train, validation;
  int number = 0;
  for (int label = 0; label < classes; ++label) {
    const std::string synset = fmt::format("n{:08}", 1440764 + 11 * label);
    synsets += fmt::format("{} animal {}, Animalis {}\n", synset, label, label);
    for (int i = 0; i < sizes.train; ++i) {
      const std::string key = fmt::format("google/q{:04}/photo{}.jpg", label + 1, ++number);
      train += fmt::format("{} {}\n", key, label);
      if (label < used) write(key, class_photo(label, number));
    }
    for (int i = 0; i < sizes.test; ++i) {
      const std::string name = fmt::format("val{:06}.jpg", ++number);
      validation += fmt::format("{} {}\n", name, label);
      if (label >= used) continue;
      write("val_images_256/" + name, class_photo(label, number));
      if (!imagenet.empty())
        write(fmt::format("{}/val/{}/ILSVRC2012_val_{:08}.JPEG", imagenet, synset, number), class_photo(label, number));
    }
  }
  write("info/synsets.txt", text_bytes(synsets));
  write("info/train_filelist_google.txt", text_bytes(train));
  write("info/val_filelist.txt", text_bytes(validation));
}

}  // namespace regroup
