#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "regroup/methods/method.h"

namespace regroup {

/// How Sel-CL+ and MOIT+ end: a new classifier, and the network with it, is trained on the selected samples alone, with
/// MixUp; later in part on what it says itself of the images as they are.
class FineTuningPhase : public Phase {
 public:
  /// From epoch `first` to the end of the run. `selected` has 1 for the samples that it learns from.
  FineTuningPhase(Context& context, Learner& learner, int first, std::span<const std::int32_t> selected);

  void begin_epoch(int epoch) override;
  std::vector<Pass> passes(int epoch) const override;
  double step(const Step& step, std::span<const TensorBatch> batches) override;
  double rate(const Step& step) const override;

 private:
  Learner& learner_;
  int first_;
  std::span<const std::int32_t> selected_;
};

/// Its setting, `finetune-lr`.
SettingInfo fine_tuning_rate(std::string_view group);

}  // namespace regroup
