// Photos decoded and augmented for training, beside torchvision's ImageFolder and DataLoader on the same cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "made_photos.h"
#include "pytorch_process.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/data/augment_kernels.h"
#include "regroup/data/folder.h"
#include "regroup/data/photo.h"

namespace regroup::bench {
namespace {

namespace fs = std::filesystem;

constexpr int short_side = 256, side = 224;
constexpr ImageSize output{side, side};
constexpr std::size_t values = std::size_t{side} * side * 3;
constexpr int rounds = 7;

/// A folder of its own, gone at the end.
class MadeFolder {
 public:
  MadeFolder() {
    std::string name = (fs::temp_directory_path() / "regroup-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder() {
    std::error_code left_behind;
    fs::remove_all(path_, left_behind);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// torchvision's RandomResizedCrop: 8 to 100 % of the area, sides 3:4 to 4:3.
Rectangle random_crop(ImageSize size, Stream& random) {
  const double height = size.height, width = size.width;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = height * width * (0.08 + 0.92 * random.uniform());
    const double ratio = std::exp(std::log(4.0 / 3) * (2 * random.uniform() - 1));
    const double w = std::round(std::sqrt(area * ratio)), h = std::round(std::sqrt(area / ratio));
    if (w > 0 && h > 0 && w <= width && h <= height)
      return {std::floor((height - h + 1) * random.uniform()), std::floor((width - w + 1) * random.uniform()), h, w};
  }
  const double edge = std::min(height, width);
  return {(height - edge) / 2, (width - edge) / 2, edge, edge};
}

/// Our way from files to normalised crops.
class Decoding {
 public:
  Decoding(std::vector<std::string> files, int threads)
      : files_(std::move(files)), threads_(threads), batch_(files_.size() * values) {
    for (std::size_t i = 0; i < channel_period; ++i) {
      constexpr float means[] = {0.485F, 0.456F, 0.406F}, deviations[] = {0.229F, 0.224F, 0.225F};
      scale_[i] = 1 / (255 * deviations[i % 3]);
      offset_[i] = -means[i % 3] / deviations[i % 3];
    }
  }

  /// Seconds per photo of an epoch.
  double run() {
    ++epoch_;
    const double all = seconds([&] {
      parallel_for(files_.size(), (files_.size() + 63) / 64, threads_, [&](std::size_t begin, std::size_t end) {
        thread_local PhotoScratch scratch;
        thread_local Image photo;
        for (std::size_t i = begin; i < end; ++i) augment(i, scratch, photo);
      });
    });
    return all / static_cast<double>(files_.size());
  }

 private:
  void augment(std::size_t i, PhotoScratch& scratch, Image& photo) {
    Stream random(1, Purpose::augment, epoch_, static_cast<std::uint32_t>(i));
    read_photo(files_[i], short_side, scratch, photo);
    std::array<std::uint8_t, values> crop, mirrored;
    resample(photo, random_crop(photo.size, random), output, crop, scratch.resample);
    const bool flip = random.below(2) == 1;
    if (flip) {
      for (std::size_t y = 0; y < side; ++y)
        REGROUP_BEST_KERNEL(mirror)(&crop[3 * y * side], side, 3, &mirrored[3 * y * side]);
    }
    REGROUP_BEST_KERNEL(normalise_float)
    ((flip ? mirrored : crop).data(), values, scale_.data(), offset_.data(),
     reinterpret_cast<std::byte*>(&batch_[i * values]));
  }

  std::vector<std::string> files_;
  int threads_;
  std::uint32_t epoch_ = 0;
  std::vector<float> batch_;
  std::array<float, channel_period> scale_{}, offset_{};
};

void bench_folder(Figures& figures, const fs::path& folder, const std::string& name) {
  constexpr std::size_t most = 1000;  // all of a large folder would take long, and tell no more
  auto files = list_images(folder);
  files.resize(std::min(files.size(), most));
  const auto count = files.size();
  Decoding ours(std::move(files), hardware_threads());
  PyTorchProcess torchvision("torchvision_decoding.py");
  torchvision.ask(fmt::format("prepare {} {} {}", folder.string(), side, hardware_threads()));
  double our_time = 0;
  report(figures, "decode_over_torchvision." + name,
         time_ratio(
             rounds,
             [&] {
               torchvision.ask("run 256");  // what its workers prepared while they waited
               return torchvision.ask(fmt::format("run {}", count));
             },
             [&] { return our_time = ours.run(); }));
  report(figures, "photos_per_second." + name, 1 / our_time);
}

}  // namespace

void bench_decode(Figures& figures) {
  const MadeFolder made;
  make_photos(made.path() / "256" / "photos", 300, {256, 341});
  make_photos(made.path() / "1024" / "photos", 100, {768, 1024});
  bench_folder(figures, made.path() / "256", "256");
  bench_folder(figures, made.path() / "1024", "1024");
  if (const char* given = std::getenv("REGROUP_BENCH_PHOTOS")) bench_folder(figures, given, "given");
}

}  // namespace regroup::bench
