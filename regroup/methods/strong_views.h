#pragma once

#include <cstdint>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/data/augment.h"

namespace regroup {

/// The settings of strong views, for methods that learn from weakly and strongly changed views of an image: RandAugment
/// of so many operations.
std::vector<SettingInfo> strong_view_settings(std::int64_t operations, double strength);

/// `view` with RandAugment on top, as these settings have it.
Augmentation strong_view(const Settings& settings, Augmentation view);

}  // namespace regroup
