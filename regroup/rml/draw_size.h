#pragma once

namespace regroup {

/// The share of a class that an estimate draws where `noise_rate` of the labels are wrong: the more are wrong, the
/// less, since what is drawn shall be right. Follows the paper's own choices on CIFAR-10 and CIFAR-100: 0.60 to 0.72 at
/// a rate of 0.2, 0.24 at 0.4 to 0.5, 0.07 at 0.8; in between the logarithm of the share is linear in the rate.
double share_for_noise_rate(double noise_rate);

}  // namespace regroup
