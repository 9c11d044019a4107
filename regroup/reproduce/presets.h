#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regroup/train/run_settings.h"

namespace regroup {

/// A cell of the paper's tables as settings for `regroup train`: a column of a built-in grid that has `preset =
/// "NAME"`, with the row of the method that is chosen.
struct Preset {
  std::string name, title;
};
const std::vector<Preset>& presets();

/// The values of a preset for a method, or for that of the row that its table compares the others with where `method`
/// is empty. A method without a row gets what all rows have. Throws UserError that lists the known presets.
std::vector<GivenValue> preset_values(std::string_view name, std::string_view method = {});

/// What a preset cannot carry and `settings` lack, such as pretrained weights: a sentence that says so, or nothing.
std::string preset_need(std::string_view name, const Settings& settings);

}  // namespace regroup
