#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "regroup/noise/transition.h"

namespace regroup {

/// Reads a transition matrix, plain or gzip: one line per clean class, one number per observed class, separated by
/// commas, without a header line. Every row must sum to 1 within 1e-6 and is then scaled to sum to 1.
TransitionMatrix read_transition(const std::filesystem::path& file, int classes);

/// The same from its text. `name` is for the messages.
TransitionMatrix parse_transition(std::string_view text, const std::string& name, int classes);

/// Writes a matrix in the form that read_transition reads, with all digits. A row of zeros, a class without samples, is
/// written as a class that keeps its label.
void write_transition(const std::filesystem::path& file, const TransitionMatrix& matrix);

}  // namespace regroup
