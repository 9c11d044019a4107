#include "regroup/methods/strong_views.h"

namespace regroup {

std::vector<SettingInfo> strong_view_settings(std::int64_t operations, double strength) {
  constexpr std::string_view group = "Strong views";
  return {{"strong-operations", group, operations, "Operations of RandAugment per strong view", 0, 14},
          {"strong-strength", group, strength, "Strength of the operations of RandAugment in strong views", 0, 1}};
}

Augmentation strong_view(const Settings& settings, Augmentation view) {
  view.distortion.operations = static_cast<int>(settings.integer("strong-operations"));
  view.distortion.strength = settings.number("strong-strength");
  return view;
}

}  // namespace regroup
