#include "regroup/methods/cross_entropy.h"

#include <ATen/ATen.h>

namespace regroup {
namespace {

class CrossEntropy : public Method {
 public:
  explicit CrossEntropy(Context& context) : Method(context), learner_(context.make_learner("model")) {}

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    return learner_->step(losses.trained.mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }

 private:
  std::unique_ptr<Learner> learner_;
};

}  // namespace

MethodInfo cross_entropy_method() {
  return {.name = "ce",
          .description = "Cross-entropy: the labels are taken as they are",
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<CrossEntropy>(context); }};
}

}  // namespace regroup
