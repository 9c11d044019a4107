#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// ProMix (Xiao et al., IJCAI 2023).
MethodInfo promix_method();

/// Label guessing by agreement: of the samples that are not chosen yet, those with `sure` marks join, the highest
/// scores first, until a share `most` of the batch is chosen. Marks are 1 or 0.
std::vector<std::int32_t> join_agreeing(std::span<const std::int32_t> chosen, std::span<const std::int32_t> sure,
                                        std::span<const float> scores, double most);

}  // namespace regroup
