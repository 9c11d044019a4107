#include "regroup/data/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/memory.h"
#include "regroup/core/parallel.h"
#include "regroup/data/resize.h"
#include "regroup/data/split.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr int min_side = 28;
constexpr int max_asked_side = 4096;
constexpr std::size_t grain = 16;  // images between two calls of `progress`
constexpr int few_images = 10;
constexpr std::size_t max_tests = 100;  // each has columns and files of its own

void tell(const LoadOptions& options, const std::string& sentence) {
  if (options.tell) options.tell(sentence);
}

/// Calls read(i) for each of `count` images on several threads. Returns what is wrong with each, "" if nothing is;
/// where bad images are refused, the first one is thrown.
std::vector<std::string> read_each(std::size_t count, const LoadOptions& options,
                                   const std::function<void(std::size_t done, std::size_t total)>& progress,
                                   const std::function<void(std::size_t)>& read) {
  std::vector<std::string> problems(count);
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(count, grain, options.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      try {
        read(i);
      } catch (const UserError& error) {
        if (options.on_bad_image == BadImage::refuse) throw;
        problems[i] = error.what();
      }
    }
    const std::lock_guard lock(mutex);
    done += end - begin;
    if (progress) progress(done, count);
  });
  if (options.warn) {
    for (const auto& problem : problems) {
      if (!problem.empty()) options.warn(problem);
    }
  }
  return problems;
}

/// Keeps what has no problem, in order. `move(from, to)` moves an item; returns how many are left.
std::size_t keep_good(std::span<const std::string> problems,
                      const std::function<void(std::size_t, std::size_t)>& move) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i].empty()) continue;
    if (kept != i) move(i, kept);
    ++kept;
  }
  return kept;
}

/// All sizes by their headers; images without a whole header are taken off.
std::vector<ImageSize> read_sizes(const std::filesystem::path& root, ListedImages& images, const LoadOptions& options) {
  std::vector<ImageSize> all;
  std::vector<std::vector<ListedImage>*> lists{&images.train, &images.validation};
  for (auto& [name, list] : images.tests) lists.push_back(&list);
  for (auto* list : lists) {
    std::vector<ImageSize> sizes(list->size());
    const auto problems = read_each(list->size(), options, {},
                                    [&](std::size_t i) { sizes[i] = read_image_size(root / (*list)[i].path); });
    const auto kept = keep_good(problems, [&](std::size_t from, std::size_t to) {
      (*list)[to] = std::move((*list)[from]);
      sizes[to] = sizes[from];
    });
    list->resize(kept);
    all.insert(all.end(), sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  return all;
}

/// The most common size, of several the largest; nothing if there are none.
ImageSize most_common(std::span<const ImageSize> sizes) {
  std::map<std::tuple<std::size_t, int, int>, std::size_t> counts;
  for (const ImageSize size : sizes) ++counts[{size.pixels(), size.height, size.width}];
  const auto best = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second, a.first) < std::tie(b.second, b.first);
  });
  if (best == counts.end()) return {};
  return {std::get<1>(best->first), std::get<2>(best->first)};
}

/// The size that all images get, and why.
ImageSize settle_size(std::span<const ImageSize> sizes, const LoadOptions& options) {
  if (options.image_size > 0) return {options.image_size, options.image_size};
  const int side = choose_size(sizes, options.max_size);
  if (sizes.empty()) return {side, side};
  const ImageSize common = most_common(sizes);
  std::string reason = fmt::format("the most common size of the files is {}x{}", common.width, common.height);
  if (std::min(common.height, common.width) > options.max_size) {
    reason += fmt::format(", and the network is made for at most {}", options.max_size);
  } else if (side == min_side) {
    reason += fmt::format(", and networks need {}", min_side);
  }
  tell(options, fmt::format("images become {}x{}: {} (--image-size changes it)", side, side, reason));
  return {side, side};
}

void refuse_too_much(const std::filesystem::path& root, std::size_t images, ImageSize size,
                     const LoadOptions& options) {
  const double memory = physical_memory();
  const auto needed = static_cast<double>(images) * static_cast<double>(size.pixels()) * 3;
  tell(options, fmt::format("{} images of {}x{} need {:.0f} MB of memory", images, size.width, size.height,
                            std::ceil(needed / 1e6)));
  if (needed <= memory) return;
  throw UserError(
      fmt::format("{}: {} images of {}x{} need {:.0f} GB of memory and there are {:.0f}; give a smaller "
                  "image size",
                  root.string(), images, size.width, size.height, needed / 1e9, memory / 1e9));
}

/// Images of a list and the place for their pixels.
struct DecodedList {
  std::vector<ListedImage> images;
  std::vector<std::uint8_t> pixels;

  DecodedList(std::vector<ListedImage> list, SampleShape shape)
      : images(std::move(list)), pixels(images.size() * shape.bytes()) {}
};

/// What has no problem of such a list. The list is used up: its memory becomes the set's.
LabelledSet good_images(DecodedList&& list, SampleShape shape, std::span<const std::string> problems) {
  const bool any_clean = std::ranges::any_of(list.images, [](const ListedImage& image) { return image.clean >= 0; });
  const auto bytes = static_cast<std::ptrdiff_t>(shape.bytes());
  const auto kept = keep_good(problems, [&](std::size_t from, std::size_t to) {
    const auto source = list.pixels.begin() + static_cast<std::ptrdiff_t>(from) * bytes;
    std::copy(source, source + bytes, list.pixels.begin() + static_cast<std::ptrdiff_t>(to) * bytes);
    list.images[to] = std::move(list.images[from]);
  });
  list.images.resize(kept);
  list.pixels.resize(kept * shape.bytes());
  LabelledSet set;
  set.source = std::make_shared<ImagesInMemory>(shape, std::move(list.pixels));
  for (ListedImage& image : list.images) {
    set.labels.push_back(image.label);
    if (any_clean) set.clean.push_back(image.clean);
    set.paths.push_back(std::move(image.path));
  }
  return set;
}

/// All in one sentence, however many there are.
void tell_small_classes(const Dataset& dataset, const LoadOptions& options) {
  if (dataset.class_names.empty()) return;
  std::vector<int> counts(dataset.class_names.size());
  const std::size_t count = dataset.train.size() - static_cast<std::size_t>(dataset.validation_count);
  for (const std::int32_t label : std::span(dataset.train.labels).first(count))
    ++counts[static_cast<std::size_t>(label)];
  std::vector<std::string> small;
  for (std::size_t y = 0; y < counts.size(); ++y) {
    if (counts[y] < few_images) small.push_back(fmt::format("{} ({})", dataset.class_names[y], counts[y]));
  }
  if (small.empty()) return;
  constexpr std::size_t most_named = 20;
  const std::size_t more = small.size() - std::min(small.size(), most_named);
  small.resize(small.size() - more);
  if (more > 0) small.push_back(fmt::format("{} more", more));
  tell(options, fmt::format("classes with fewer than {} training images: {}", few_images, fmt::join(small, ", ")));
}

}  // namespace

std::optional<std::string> part_called(std::string_view name) {
  const std::string word = lowercase(name);
  if (word == "train" || word == "training") return "train";
  if (word == "val" || word == "valid" || word == "validation" || word == "dev") return "val";
  if (word == "test" || word == "testing") return "test";
  // Figures, columns and files are named after a test set.
  constexpr std::string_view prefix = "test-";
  const bool fits = word.size() > prefix.size() && word.size() <= 64 && word.starts_with(prefix) &&
                    word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
  if (fits) return std::string(prefix).append(name.substr(prefix.size()));
  return std::nullopt;
}

void split_off_test(ListedImages& images, int classes, const LoadOptions& options) {
  if (!(options.test_split >= 0 && options.test_split < 1))
    throw UserError(fmt::format("the share of the test split is {}; give one from 0 to below 1", options.test_split));
  std::vector<std::int32_t> labels;
  labels.reserve(images.train.size());
  for (const ListedImage& image : images.train) labels.push_back(image.label);
  const Split split = split_test(labels, classes, options.test_split, options.seed);
  std::vector<ListedImage> train;
  train.reserve(split.train.size());
  for (const auto i : split.train) train.push_back(std::move(images.train[i]));
  auto& test = images.tests["test"];
  for (const auto i : split.validation) test.push_back(std::move(images.train[i]));
  images.train = std::move(train);
  if (test.empty()) return tell(options, "no test part, and no images become one (--test-split)");
  tell(options, fmt::format("no test part: {:.4g} % of each class ({} images) become the test images (--test-split)",
                            100 * options.test_split, test.size()));
}

int choose_size(std::span<const ImageSize> sizes, int max_side) {
  if (sizes.empty()) return max_side;
  const ImageSize common = most_common(sizes);
  return std::clamp(std::min(common.height, common.width), min_side, max_side);
}

void load_image_files(const std::filesystem::path& root, ListedImages images, const LoadOptions& options,
                      Dataset& dataset) {
  const bool wants_training = !images.train.empty();
  const int side = options.image_size;
  if (side < 0 || side > max_asked_side) {
    throw UserError(
        fmt::format("the image size is {}; give one from 1 to {}, or 0 for that of the images", side, max_asked_side));
  }
  if (images.tests.size() > max_tests)
    throw UserError(fmt::format("{}: {} test sets; give at most {}", root.string(), images.tests.size(), max_tests));
  const auto sizes = read_sizes(root, images, options);
  const ImageSize size = settle_size(sizes, options);
  refuse_too_much(root, sizes.size(), size, options);

  const std::size_t validation_count = images.validation.size();
  std::move(images.validation.begin(), images.validation.end(), std::back_inserter(images.train));
  const SampleShape shape{3, size.height, size.width};
  std::vector<DecodedList> lists;
  lists.emplace_back(std::move(images.train), shape);
  for (auto& [name, list] : images.tests) lists.emplace_back(std::move(list), shape);

  const auto problems = read_each(sizes.size(), options, options.progress, [&](std::size_t i) {
    std::size_t at = i;
    auto current = lists.begin();
    for (; at >= current->images.size(); ++current) at -= current->images.size();
    DecodedList& list = *current;
    resize_to_cover(read_image(root / list.images[at].path), size,
                    std::span(list.pixels).subspan(at * shape.bytes(), shape.bytes()));
  });
  auto rest = std::span(problems);
  const auto take = [&](DecodedList& list) {
    const auto own = rest.first(list.images.size());
    rest = rest.subspan(own.size());
    return good_images(std::move(list), shape, own);
  };
  dataset.validation_count =
      static_cast<int>(std::ranges::count(rest.first(lists[0].images.size()).last(validation_count), ""));
  dataset.train = take(lists[0]);
  dataset.tests.clear();
  for (auto& [name, list] : images.tests) dataset.tests.push_back({name, take(lists[dataset.tests.size() + 1])});
  if (wants_training && dataset.train.size() == static_cast<std::size_t>(dataset.validation_count))
    throw UserError(fmt::format("{}: no training image could be read; is it the right place?", root.string()));
  tell_small_classes(dataset, options);
}

}  // namespace regroup
