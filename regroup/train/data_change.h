#pragma once

#include <string>
#include <string_view>

#include "regroup/train/run_data.h"

namespace regroup {

/// What differs between the training data of now and that of a run's labels.csv, whose text is `before`: images that
/// are new, gone or have another label, each with an example. Says so where neither images nor labels differ.
std::string describe_change(std::string_view before, const RunData& now);

}  // namespace regroup
