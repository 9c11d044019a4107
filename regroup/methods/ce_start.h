#pragma once

#include <string>
#include <vector>

#include "regroup/methods/kept_network.h"
#include "regroup/methods/method.h"

namespace regroup {

/// Cross-entropy at the beginning of methods that start from what it has learnt. The network of its best epoch by the
/// validation samples, whose labels are as wrong as all others, is kept: later ones have memorised wrong labels. Of a
/// run that has no validation samples it is the last one. A finished run of cross-entropy may stand in for this phase
/// (`ce-weights`), which then has no epochs.
class CeStart : public Phase {
 public:
  enum class Best { lowest_loss, most_right };

  /// `epochs` where no weights are given. `learner` must outlive it.
  CeStart(Context& context, Learner& learner, int epochs, Best best);

  int epochs() const { return epochs_; }

  /// Reads the given weights in the first epoch of a run that has them.
  void begin_run(int epoch);

  double step(const Step& step, std::span<const TensorBatch> batches) override;
  void end_epoch(int epoch) override;

  Network& best() { return best_.network(); }
  void collect(State& state) { best_.collect(state); }

 private:
  Learner& learner_;
  int epochs_;
  Best by_;
  KeptNetwork best_;
};

/// `ce-epochs` and `ce-weights`, for methods that have this phase.
std::vector<SettingInfo> ce_start_settings();

}  // namespace regroup
