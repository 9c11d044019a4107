#pragma once

#include <filesystem>
#include <istream>
#include <string>

#include "regroup/noise/transition.h"

namespace regroup {

/// Reads a transition matrix: one line a clean class, one number an observed class, separated by commas, without a
/// header line. Every row must sum to 1 within 1e-6 and is then scaled to sum to 1. `name` is for the messages.
TransitionMatrix read_transition(std::istream& in, const std::string& name, int classes);
TransitionMatrix read_transition(const std::filesystem::path& file, int classes);

/// Writes a matrix in the form that read_transition reads, with all digits. A row of zeros, a class without samples, is
/// written as a class that keeps its label.
void write_transition(const std::filesystem::path& file, const TransitionMatrix& matrix);

}  // namespace regroup
