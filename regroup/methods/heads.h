#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "regroup/methods/context.h"

namespace regroup {

/// A layer that is learnt beside a network and saved with it, such as a projection head: W x + b.
class Head {
 public:
  /// `name` begins the names of its tensors; no two heads of a run that start from `number` and `member` alike may have
  /// the same. Weights start as the engine's own do, uniform within 1 / sqrt(in).
  Head(const Context& context, Learner& learner, const std::string& name, std::int64_t in, std::int64_t out,
       std::uint32_t number, std::uint32_t member = 0);

  at::Tensor operator()(const at::Tensor& x) const;

  /// The same layer of the learner's ema; it must have one.
  at::Tensor of_ema(const at::Tensor& x) const;

 private:
  at::Tensor weight_, bias_, ema_weight_, ema_bias_;
};

/// Two layers with batch normalisation and ReLU between them, for batches of the training.
class TwoLayerHead {
 public:
  TwoLayerHead(const Context& context, Learner& learner, const std::string& name, std::int64_t in, std::int64_t hidden,
               std::int64_t out, std::uint32_t number);

  at::Tensor operator()(const at::Tensor& x) const;

 private:
  Head first_, second_;
  at::Tensor scale_, shift_;
};

/// How many numbers a network's features have.
std::int64_t feature_size(const Network& network);

/// What a network multiplies the output of its classifier by, so that a second classifier can do the same.
double classifier_scale(Learner& learner, const SampleShape& shape);

/// Each row divided by its length.
at::Tensor unit_rows(const at::Tensor& x);

}  // namespace regroup
