#pragma once

#include <string>
#include <vector>

#include "regroup/methods/method.h"

namespace regroup {

// Progressive early stopping (Bai et al., NeurIPS 2021): how PES and PES-Semi begin.

/// Cross-entropy on all samples.
class EarlyPhase : public Phase {
 public:
  EarlyPhase(Context& context, Learner& learner) : Phase(context), learner_(learner) {}

  double step(const Step& step, std::span<const TensorBatch> batches) override;

 protected:
  Learner& learner_;
};

/// One epoch of many passes: the later a part of the network, the sooner it follows wrong labels, and the shorter it is
/// trained. Its last parts begin anew and are trained by Adam, with `refine-lr`, while what lies before them stays.
class RefinementPhase : public EarlyPhase {
 public:
  struct Turn {
    std::size_t last_parts;  ///< so many of parts_of() begin anew
    int passes;
  };
  RefinementPhase(Context& context, Learner& learner, std::vector<Turn> turns);

  std::vector<Pass> passes(int epoch) const override;
  void begin_pass(const Step& first) override;
  double rate(const Step& step) const override;

 private:
  std::vector<Turn> turns_;
};

/// The parts of a network from its input to its output, by the first part of their parameters' names, a normalisation
/// with the convolution before it: conv1 and bn1, layer1, ..., fc.
std::vector<std::vector<std::string>> parts_of(const Network& network);

}  // namespace regroup
