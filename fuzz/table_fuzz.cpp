// Any text is a list of images, of labels or of trusted images, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/data/csv_dataset.h"
#include "regroup/data/labels_file.h"

namespace {

regroup::Dataset make_dataset() {
  regroup::Dataset dataset;
  dataset.class_names = {"cat", "dog", "2"};
  dataset.train.labels = {0, 1, 2, 0};
  dataset.train.paths = {"a.png", "b/c.png", "d, e.png", "f.png"};
  return dataset;
}

const regroup::Dataset dataset = make_dataset();
const std::size_t images = dataset.train.labels.size();

void check_range(const std::vector<std::int32_t>& labels, std::int32_t first, std::size_t classes) {
  for (const auto label : labels) {
    if (label < first || label >= static_cast<std::int32_t>(classes)) std::abort();
  }
}

void read_labels(std::string_view text) {
  const auto file = regroup::parse_labels(text, "fuzz", dataset);
  if (file.labels.size() != images || (!file.clean.empty() && file.clean.size() != images)) std::abort();
  check_range(file.labels, 0, dataset.class_names.size());
  check_range(file.clean, -1, dataset.class_names.size());
}

void read_trusted(std::string_view text) {
  for (const auto index : regroup::parse_trusted(text, "fuzz", dataset)) {
    if (index >= images) std::abort();
  }
}

void read_manifest(std::string_view text) {
  const auto manifest = regroup::parse_manifest(text, "fuzz");
  const auto check = [&](const std::vector<regroup::ListedImage>& list) {
    for (const auto& image : list) {
      check_range({image.label}, 0, manifest.class_names.size());
      check_range({image.clean}, -1, manifest.class_names.size());
    }
  };
  check(manifest.images.train);
  check(manifest.images.validation);
  for (const auto& [name, list] : manifest.images.tests) check(list);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {read_labels, read_trusted, read_manifest}) {
    try {
      read(text);
    } catch (const regroup::UserError&) {
      continue;
    }
  }
  return 0;
}
