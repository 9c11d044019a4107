#pragma once

#include <memory>
#include <string>
#include <vector>

#include "regroup/methods/method.h"

namespace regroup {

/// Two learners from different starts, and the predictor that they are together: `both`.
class Twins {
 public:
  explicit Twins(const Context& context)
      : learners_{context.make_learner("model"), context.make_learner("model2", /*member=*/1)} {}

  Learner& operator[](std::size_t i) { return *learners_[i]; }
  std::vector<Learner*> all() { return {learners_[0].get(), learners_[1].get()}; }

  Predictor together(PredictorMean mean) { return {"both", {&learners_[0]->model(), &learners_[1]->model()}, mean}; }

 private:
  std::unique_ptr<Learner> learners_[2];
};

/// Each of two networks has its own epoch of cross-entropy, less the entropy of its predictions where they would get
/// too sure.
class TwinWarmUp : public Phase {
 public:
  TwinWarmUp(Context& context, Twins& twins, bool confidence_penalty)
      : Phase(context), twins_(twins), confidence_penalty_(confidence_penalty) {}

  std::vector<Pass> passes(int epoch) const override;
  double step(const Step& step, std::span<const TensorBatch> batches) override;

 private:
  Twins& twins_;
  bool confidence_penalty_;
};

}  // namespace regroup
