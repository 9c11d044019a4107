#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/noise/features.h"

namespace regroup {

/// Deviation of the flip rates of single samples.
inline constexpr double instance_rate_deviation = 0.1;

/// A normal with the given mean, in [0, 1], and deviation, conditioned to lie in [0, 1].
double truncated_normal(Stream& stream, double mean, double deviation);

/// Instance-dependent noise (Xia et al. 2020, "Part-dependent label noise", algorithm 2). For a sample with features x
/// and clean class y:
///
///   q ~ N(rate, 0.1^2) truncated to [0, 1]            the sample's own flip rate
///   W_y in R^(size x classes), entries N(0, 1)        the random directions of its class
///   p = q * softmax over the classes but y of x W_y,  p_y = 1 - q
///   label ~ p
///
/// The published generator projects the pixels from 0 to 255 as they are, and so do we. A score x W_y has a deviation
/// of thousands, so the softmax is nearly one-hot: an image has one wrong class to go to. All pixels are positive, so
/// the images of a class have much in common and mostly go to the same few classes; pixels shifted to mean 0 would
/// spread them over all, which is nearly symmetric noise.
///
/// Near the ends the truncation moves the mean of q: a rate of 1 flips 0.92 of the labels. A rate of 0 is taken at its
/// word, no label is flipped; the formula would flip 0.08 of them.
///
/// `labels` are in 0 .. classes - 1, with at least two classes. The directions of one class are in memory at a time,
/// size * classes floats.
std::vector<std::int32_t> instance_noise(std::span<const std::int32_t> labels, int classes, double rate,
                                         const Features& features, std::uint64_t seed, int threads);

}  // namespace regroup
