// Any text is a list of images, of labels or of trusted indexes, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/data/csv_dataset.h"
#include "regroup/data/labels_file.h"

namespace {

const std::vector<std::string> names{"cat", "dog", "2"};
constexpr std::size_t images = 4;

void check_range(const std::vector<std::int32_t>& labels, std::int32_t first, std::size_t classes) {
  for (const auto label : labels) {
    if (label < first || label >= static_cast<std::int32_t>(classes)) std::abort();
  }
}

void read_labels(std::string_view text) {
  const auto file = regroup::parse_labels(text, "fuzz", images, names);
  if (file.labels.size() != images || (!file.clean.empty() && file.clean.size() != images)) std::abort();
  check_range(file.labels, 0, names.size());
  check_range(file.clean, -1, names.size());
}

void read_trusted(std::string_view text) {
  for (const auto index : regroup::parse_trusted(text, "fuzz", images)) {
    if (index >= images) std::abort();
  }
}

void read_manifest(std::string_view text) {
  const auto manifest = regroup::parse_manifest(text, "fuzz");
  for (const auto* list : {&manifest.images.train, &manifest.images.test}) {
    for (const auto& image : *list) {
      check_range({image.label}, 0, manifest.class_names.size());
      check_range({image.clean}, -1, manifest.class_names.size());
    }
  }
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
