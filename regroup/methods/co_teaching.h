#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Co-teaching (Han et al., NeurIPS 2018).
MethodInfo co_teaching_method();

/// Which of two networks' samples of a batch each of them learns from: those with the smallest losses of the other, of
/// a share 1 - `forget` of the batch, at least one. Positions in the batch, by rising loss.
std::vector<std::int64_t> smallest(std::span<const float> losses, double forget);

/// R(t): the share of a batch that is forgotten in an epoch. It rises linearly from 0 over the first `gradual` epochs.
double forget_share(int epoch, int gradual, double rate);

}  // namespace regroup
