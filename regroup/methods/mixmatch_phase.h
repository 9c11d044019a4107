#pragma once

#include <vector>

#include "regroup/methods/mixmatch.h"

namespace regroup {

/// MixMatch on the samples that keep their label and those that lose it, judged anew for each epoch by what networks
/// predict: the second phase of RML-Semi, and of PES-Semi. Takes the settings `temperature`, `mix-alpha` and
/// `mix-alpha-late` of the method.
class MixMatchPhase : public Phase {
 public:
  struct Options {
    std::vector<Network*> judges;  ///< a sample keeps its label if all of them predict it
    double start = 0;              ///< epochs after which the loss of unlabelled samples begins to count
    double ramp_epochs = 0;        ///< in which its weight rises to lambda_u
    double lambda_u = 0;
    double own_rate = 0;  ///< constant learning rate; 0: as configured
  };
  MixMatchPhase(Context& context, Learner& learner, Options options);

  /// Judges the samples of an epoch, each by the mean over two augmented views.
  void split(int epoch);

  /// As many steps as a plain epoch has: the smaller set has several turns.
  std::vector<Pass> passes(int epoch) const override;
  void begin_pass(const Step& first) override;
  double rate(const Step& step) const override;
  double step(const Step& step, std::span<const TensorBatch> batches) override;

  static constexpr int views = 2;

  bool has_labels() const { return count() > 0; }
  std::span<const std::int32_t> labelled() const { return labelled_; }
  std::span<const std::int32_t> guesses() const { return guesses_; }
  std::vector<Metric> metrics() const { return total_.metrics(count()); }
  void collect(State& state);

 private:
  std::size_t count() const;

  Learner& learner_;
  Options options_;
  std::vector<std::int32_t> labelled_, guesses_;
  MixMatchTotal total_;
  at::Tensor class_weights_;  ///< follows from labelled_
};

}  // namespace regroup
