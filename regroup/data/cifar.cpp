#include "regroup/data/cifar.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::size_t plane = std::size_t{cifar_shape.height} * cifar_shape.width;
constexpr std::size_t max_images = 1'000'000;
constexpr std::size_t max_names_bytes = 1U << 16;

bool is_there(const std::filesystem::path& file) {
  std::error_code unreadable_is_missing;
  return std::filesystem::exists(file, unreadable_is_missing);
}

/// What differs between them.
struct Layout {
  const char* inner;
  int classes;
  CifarLabels labels;
  std::vector<const char*> train;
  const char* test;
  const char* names;
};

LabelledSet load_files(const std::filesystem::path& folder, const std::vector<const char*>& files, const Layout& layout,
                       const DatasetInfo& info) {
  CifarImages images;
  for (const char* name : files) {
    const auto file = folder / name;
    if (!is_there(file))
      throw UserError(fmt::format("{}: no {} in {}; {}", info.name, name, folder.string(), info.advice));
    append_cifar(*open_bytes(file), file.string(), layout.labels, layout.classes, images);
  }
  LabelledSet set;
  set.source = std::make_shared<ImagesInMemory>(cifar_shape, std::move(images.pixels));
  set.labels = std::move(images.labels);
  return set;
}

std::vector<std::string> class_names(const std::filesystem::path& file, int classes) {
  std::vector<std::string> names;
  if (!is_there(file)) {
    for (int y = 0; y < classes; ++y) names.push_back(std::to_string(y));
    return names;
  }
  const std::string text = read_text(file, max_names_bytes);
  std::set<std::string_view> distinct;
  for (const std::string_view line : lines(text)) {
    const auto name = trimmed(line);
    if (name.empty()) continue;
    if (!distinct.insert(name).second)
      throw UserError(fmt::format("{}: two classes are called '{}'; fetch it again", file.string(), name));
    names.emplace_back(name);
  }
  if (names.size() != static_cast<std::size_t>(classes)) {
    throw UserError(
        fmt::format("{}: {} names for {} classes; fetch it again, or remove it to call the classes 0, 1, "
                    "...",
                    file.string(), names.size(), classes));
  }
  return names;
}

Dataset load(const std::filesystem::path& folder, const DatasetInfo& info, const Layout& layout) {
  const auto place =
      !is_there(folder / layout.test) && is_there(folder / layout.inner) ? folder / layout.inner : folder;
  Dataset dataset;
  dataset.name = info.name;
  dataset.class_names = class_names(place / layout.names, layout.classes);
  dataset.train = load_files(place, layout.train, layout, info);
  dataset.test() = load_files(place, {layout.test}, layout, info);
  return dataset;
}

/// One plane after the other becomes the three values of a pixel side by side.
void append_interleaved(std::span<const std::uint8_t> planes, std::vector<std::uint8_t>& pixels) {
  const std::size_t start = pixels.size();
  pixels.resize(start + 3 * plane);
  for (std::size_t p = 0; p < plane; ++p) {
    for (std::size_t c = 0; c < 3; ++c) pixels[start + 3 * p + c] = planes[c * plane + p];
  }
}

}  // namespace

void append_cifar(ByteSource& source, const std::string& name, CifarLabels labels, int classes, CifarImages& images) {
  std::vector<std::uint8_t> record(labels.count + 3 * plane);
  std::size_t count = 0;
  for (std::size_t found = source.read(record); found > 0; found = source.read(record), ++count) {
    if (found < record.size()) {
      throw UserError(fmt::format("{}: {} bytes follow image {}; a record has {} bytes, so fetch the file again", name,
                                  found, count, record.size()));
    }
    // A gzip file of a few megabytes may unpack to anything.
    if (count == max_images) throw UserError(fmt::format("{}: more than {} images; is it CIFAR?", name, max_images));
    const int label = record[labels.used];
    if (label >= classes)
      throw UserError(fmt::format("{}: label {} of image {} is outside 0 .. {}", name, label, count, classes - 1));
    images.labels.push_back(label);
    append_interleaved(std::span(record).subspan(labels.count), images.pixels);
  }
  if (count == 0) throw UserError(fmt::format("{}: the file is empty; fetch it again", name));
}

Dataset load_cifar10(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions&) {
  return load(folder, info,
              {"cifar-10-batches-bin",
               10,
               {.count = 1, .used = 0},
               {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
               "test_batch.bin",
               "batches.meta.txt"});
}

Dataset load_cifar100(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions&) {
  constexpr CifarLabels fine{.count = 2, .used = 1};
  return load(folder, info, {"cifar-100-binary", 100, fine, {"train.bin"}, "test.bin", "fine_label_names.txt"});
}

Dataset load_cifar100_coarse(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions&) {
  constexpr CifarLabels coarse{.count = 2, .used = 0};
  const auto place = is_there(folder / "cifar100") ? folder / "cifar100" : folder;
  return load(place, info, {"cifar-100-binary", 20, coarse, {"train.bin"}, "test.bin", "coarse_label_names.txt"});
}

}  // namespace regroup
