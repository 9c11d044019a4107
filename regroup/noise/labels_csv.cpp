#include "regroup/noise/labels_csv.h"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>

#include "regroup/core/file.h"

namespace regroup {

void write_labels_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                      std::span<const std::int32_t> clean) {
  if (labels.size() != clean.size()) throw std::invalid_argument("write_labels_csv: labels and clean differ in size");
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "index,label,clean\n");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{},{}\n", i, labels[i], clean[i]);
  }
  write_file(file, {text.data(), text.size()});
}

}  // namespace regroup
