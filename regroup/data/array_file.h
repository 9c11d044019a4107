#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace regroup {

/// Labels or indexes as Python programs write them: the integers of an NPY file of one dimension. Nothing if the
/// content is of another kind, maybe a text. What torch.save, pickle or numpy.savez wrote is not read, since such files
/// are programs or hold several arrays: UserError has the line of Python that converts it.
std::optional<std::vector<std::int64_t>> parse_array(std::string_view content, const std::filesystem::path& file);

}  // namespace regroup
