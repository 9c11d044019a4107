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
#include "regroup/data/photos.h"
#include "regroup/data/split.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr int min_side = 28;
constexpr int max_asked_side = 4096;
constexpr std::size_t grain = 16;  // images between two calls of `progress`
constexpr int few_images = 10;
constexpr std::size_t max_tests = 100;        // each has columns and files of its own
constexpr std::size_t most_headers = 20'000;  // tell enough about the sizes of any number of files

void tell(const LoadOptions& options, const std::string& sentence) {
  if (options.tell) options.tell(sentence);
}

/// Calls read(i, scratch) for each of `count` images on several threads. Returns what is wrong with each, "" if nothing
/// is; where bad images are refused, the first one is thrown.
std::vector<std::string> read_each(std::size_t count, const LoadOptions& options,
                                   const std::function<void(std::size_t done, std::size_t total)>& progress,
                                   const std::function<void(std::size_t, PhotoScratch&)>& read) {
  std::vector<std::string> problems(count);
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(count, grain, options.threads, [&](std::size_t begin, std::size_t end) {
    PhotoScratch scratch;
    for (std::size_t i = begin; i < end; ++i) {
      try {
        read(i, scratch);
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

/// The lists of all parts.
std::vector<std::vector<ListedImage>*> lists_of(ListedImages& images) {
  std::vector<std::vector<ListedImage>*> lists{&images.train, &images.validation};
  for (auto& [name, list] : images.tests) lists.push_back(&list);
  return lists;
}

/// The sizes by the headers of all files, or of many that are spread over the lists where there are more. Those that
/// were looked at and have no whole header, or no end, are taken off.
std::vector<ImageSize> read_sizes(const std::filesystem::path& root, ListedImages& images, const LoadOptions& options) {
  const auto lists = lists_of(images);
  std::size_t count = 0;
  for (const auto* list : lists) count += list->size();
  const std::size_t stride = 1 + count / (most_headers + 1);
  std::vector<ImageSize> all;
  for (auto* list : lists) {
    std::vector<ImageSize> sizes((list->size() + stride - 1) / stride);
    const auto problems = read_each(sizes.size(), options, {}, [&](std::size_t i, PhotoScratch&) {
      sizes[i] = check_image_file(root / (*list)[i * stride].path);
    });
    std::size_t number = 0;
    std::erase_if(*list, [&](const ListedImage&) {
      const std::size_t i = number++;
      return i % stride == 0 && !problems[i / stride].empty();
    });
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (problems[i].empty()) all.push_back(sizes[i]);
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

/// The side of the squares that networks get, and why.
int settle_side(std::span<const ImageSize> sizes, ImageSurvey survey, const LoadOptions& options) {
  if (options.image_size > 0) return options.image_size;
  const int largest = choose_size(sizes, options.max_size);
  if (sizes.empty()) return largest;
  survey.common = most_common(sizes);
  if (options.choose_side) {
    if (const int side = options.choose_side(survey); side < largest) return std::max(side, min_side);
  }
  std::string reason =
      fmt::format("the most common size of the files is {}x{}", survey.common.width, survey.common.height);
  if (std::min(survey.common.height, survey.common.width) > options.max_size) {
    reason += fmt::format(", and the network is made for at most {}", options.max_size);
  } else if (largest == min_side) {
    reason += fmt::format(", and networks need {}", min_side);
  }
  tell(options, fmt::format("images become {}x{}: {} (--image-size changes it)", largest, largest, reason));
  return largest;
}

PhotoForm form_of(int side, const LoadOptions& options) {
  PhotoForm form;
  form.side = side;
  form.whole = options.whole_images;
  form.short_side = options.resize > 0 ? options.resize : options.whole_images ? (form.side * 8 + 3) / 7 : form.side;
  if (form.short_side < form.side || form.short_side > max_asked_side)
    throw UserError(
        fmt::format("images are scaled to {} pixels, and networks get {} of them; give a --resize from {} to {}",
                    form.short_side, form.side, form.side, max_asked_side));
  return form;
}

/// The bytes that images of these sizes take in a form, on average.
double mean_bytes(std::span<const ImageSize> sizes, const PhotoForm& form) {
  if (!form.whole || sizes.empty()) return 3.0 * form.short_side * form.short_side;
  double sum = 0;
  for (const ImageSize size : sizes) sum += 3.0 * static_cast<double>(photo_size(size, form.short_side).pixels());
  return sum / static_cast<double>(sizes.size());
}

/// Whether images that take so many bytes are decoded each time that they are needed.
bool stay_on_disk(double needed, const LoadOptions& options) {
  return options.keep == KeepImages::disk || (options.keep == KeepImages::by_size && needed > physical_memory() / 2);
}

/// Whether the images are kept in memory. What that takes is told before it is taken.
bool fits_into_memory(std::size_t count, double bytes, const PhotoForm& form, const LoadOptions& options) {
  const double needed = static_cast<double>(count) * bytes, there = physical_memory();
  const std::string size = form.whole ? fmt::format("with a shorter side of {}", form.short_side)
                                      : fmt::format("of {}x{}", form.short_side, form.short_side);
  if (options.keep == KeepImages::disk) {
    tell(options, fmt::format("{} images {} are decoded from disk in each epoch", count, size));
    return false;
  }
  const auto amount = [](double value) {
    return value < 1e9 ? fmt::format("{:.0f} MB", std::ceil(value / 1e6)) : fmt::format("{:.1f} GB", value / 1e9);
  };
  if (stay_on_disk(needed, options)) {
    tell(options, fmt::format("{} images {} would take {} of {} of memory, so they are decoded from disk in each epoch "
                              "(--keep-images memory keeps them)",
                              count, size, amount(needed), amount(there)));
    return false;
  }
  if (needed > there)
    throw UserError(
        fmt::format("{} images {} take {} of memory and there are {}; give a smaller --image-size, or "
                    "--keep-images disk",
                    count, size, amount(needed), amount(there)));
  tell(options, fmt::format("{} images {} take {} of memory", count, size, amount(needed)));
  return true;
}

PhotoReader reader_of(const std::filesystem::path& root, const PhotoForm& form, const LoadOptions& options) {
  return {root, form,
          options.cache.empty() ? nullptr : std::make_shared<ImageCache>(options.cache, options.cache_bytes)};
}

/// See ImageSurvey::from_disk. A file that cannot be read is left out, and told when the data is loaded.
std::shared_ptr<const SampleSource> some_from_disk(const std::filesystem::path& root,
                                                   const std::vector<ListedImage>& list,
                                                   std::span<const ImageSize> sizes, double count, int side,
                                                   const LoadOptions& options) {
  constexpr std::size_t most = 64;
  const PhotoForm form = form_of(side, options);
  if (list.empty() || !stay_on_disk(count * mean_bytes(sizes, form), options)) return nullptr;
  std::vector<std::string> paths;
  const std::size_t some = std::min(most, list.size());
  for (std::size_t i = 0; i < some; ++i) paths.push_back(list[i * list.size() / some].path);
  return std::make_shared<PhotosOnDisk>(reader_of(root, form, options), std::move(paths), 0,
                                        [](const std::string& /*sentence*/) {});
}

std::vector<std::string> paths_of(const std::vector<ListedImage>& list) {
  std::vector<std::string> paths;
  paths.reserve(list.size());
  for (const ListedImage& image : list) paths.push_back(image.path);
  return paths;
}

bool knows_clean(const std::vector<ListedImage>& list) {
  return std::ranges::any_of(list, [](const ListedImage& image) { return image.clean >= 0; });
}

LabelledSet labelled(std::vector<ListedImage>&& list, bool any_clean) {
  LabelledSet set;
  for (ListedImage& image : list) {
    set.labels.push_back(image.label);
    if (any_clean) set.clean.push_back(image.clean);
    set.paths.push_back(std::move(image.path));
  }
  return set;
}

/// Reads the images of all lists. Those that cannot be read are taken off their lists.
std::vector<std::vector<Image>> read_all(std::span<std::vector<ListedImage>* const> lists, const PhotoReader& reader,
                                         const LoadOptions& options) {
  std::vector<std::vector<Image>> images;
  std::size_t count = 0;
  for (const auto* list : lists) {
    images.emplace_back(list->size());
    count += list->size();
  }
  const auto problems = read_each(count, options, options.progress, [&](std::size_t i, PhotoScratch& scratch) {
    std::size_t list = 0;
    for (; i >= images[list].size(); ++list) i -= images[list].size();
    reader.read((*lists[list])[i].path, scratch, images[list][i]);
  });
  auto rest = std::span(problems);
  for (std::size_t number = 0; number < lists.size(); ++number) {
    const auto own = rest.first(images[number].size());
    rest = rest.subspan(own.size());
    std::size_t i = 0, j = 0;
    std::erase_if(*lists[number], [&](const ListedImage&) { return !own[i++].empty(); });
    std::erase_if(images[number], [&](const Image&) { return !own[j++].empty(); });
  }
  return images;
}

}  // namespace

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
  tell(options, fmt::format("classes with fewer than {} training {}: {}", few_images,
                            dataset.train.source->shape().is_vector ? "vectors" : "images", fmt::join(small, ", ")));
}

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
  std::size_t listed = 0;
  for (const auto* list : lists_of(images)) listed += list->size();
  const auto sizes = read_sizes(root, images, options);
  ImageSurvey survey{images.train.size(), images.validation.size(), 0, dataset.classes(), {}};
  for (const auto& [name, list] : images.tests) survey.tests += list.size();
  const std::size_t count = survey.train + survey.validation + survey.tests;
  survey.from_disk = [&](int chosen) {
    return some_from_disk(root, images.train, sizes, static_cast<double>(count), chosen, options);
  };
  const PhotoForm form = form_of(settle_side(sizes, survey, options), options);
  const auto lists = lists_of(images);
  const bool in_memory = fits_into_memory(count, mean_bytes(sizes, form), form, options);
  const PhotoReader reader = reader_of(root, form, options);
  std::vector<bool> any_clean;
  any_clean.reserve(lists.size());
  for (const auto* list : lists) any_clean.push_back(knows_clean(*list));
  any_clean[0] = any_clean[0] || any_clean[1];
  std::vector<std::vector<Image>> decoded;
  if (in_memory) decoded = read_all(lists, reader, options);
  for (const auto* list : lists) listed -= list->size();
  if (listed > 0)
    tell(options,
         fmt::format("{} cannot be read and {} left out (--on-bad-image refuse stops instead)",
                     listed == 1 ? "1 image file" : fmt::format("{} image files", listed), listed == 1 ? "is" : "are"));

  dataset.short_side = form.short_side;
  dataset.root = root;
  dataset.validation_count = static_cast<int>(images.validation.size());
  std::ranges::move(images.validation, std::back_inserter(images.train));
  if (in_memory) std::ranges::move(decoded[1], std::back_inserter(decoded[0]));
  const PhotosOnDisk::Warn skip = options.on_bad_image == BadImage::skip
                                      ? options.warn ? options.warn : [](const std::string&) {}
                                      : PhotosOnDisk::Warn();
  const auto make_set = [&](std::vector<ListedImage>& list, std::size_t number) {
    auto paths = paths_of(list);
    const std::uint64_t digest = digest_of_files(root, paths);
    LabelledSet set = labelled(std::move(list), any_clean[number]);
    if (in_memory) {
      set.source = std::make_shared<PhotosInMemory>(form.shape(), std::move(decoded[number]), digest);
    } else {
      set.source = std::make_shared<PhotosOnDisk>(reader, std::move(paths), digest, skip);
    }
    return set;
  };
  dataset.train = make_set(images.train, 0);
  dataset.tests.clear();
  for (auto& [name, list] : images.tests) dataset.tests.push_back({name, make_set(list, dataset.tests.size() + 2)});
  if (wants_training && dataset.train.size() == static_cast<std::size_t>(dataset.validation_count))
    throw UserError(fmt::format("{}: no training image could be read; is it the right place?", root.string()));
  tell_small_classes(dataset, options);
}

}  // namespace regroup
