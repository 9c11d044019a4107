#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace regroup {

/// Writes `index,label,clean`, a line a sample; the index is the position in the dataset.
void write_labels_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                      std::span<const std::int32_t> clean);

}  // namespace regroup
