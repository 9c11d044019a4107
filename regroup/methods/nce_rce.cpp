#include "regroup/methods/nce_rce.h"

#include <ATen/ATen.h>

#include <cmath>

#include "regroup/methods/sce.h"

namespace regroup {
namespace {

class NceRce : public Method {
 public:
  explicit NceRce(Context& context) : Method(context), learner_(context.make_learner("model")) {
    const Settings& settings = context.settings();
    const bool few = context.samples().classes < 100;
    alpha_ = settings.number("active-weight");
    if (alpha_ == -1) alpha_ = few ? 1 : 10;
    beta_ = settings.number("passive-weight");
    if (beta_ == -1) beta_ = few ? 1 : 0.1;
    learner_->largest_gradient = settings.number("largest-gradient");
  }

  /// L = alpha NCE + beta RCE: an active loss asks for the label, a passive one against all other classes.
  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    const double log_zero = std::log(1e-4);
    const at::Tensor log_p = at::log_softmax(logits, 1);
    const at::Tensor of_classes =
        normalised_cross_entropy(log_p) * alpha_ + reverse_cross_entropy(log_p, log_zero) * beta_;
    return learner_->step((of_classes * context().targets(batch.labels)).sum(1).mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }

 private:
  std::unique_ptr<Learner> learner_;
  double alpha_, beta_;
};

}  // namespace

at::Tensor normalised_cross_entropy(const at::Tensor& log_probabilities) {
  return log_probabilities / log_probabilities.sum(1, /*keepdim=*/true);
}

MethodInfo nce_rce_method() {
  constexpr std::string_view group = "NCE+RCE";
  return {
      .name = "nce-rce",
      .description = "NCE+RCE: normalised cross-entropy, which is robust, with reverse one, which helps it to learn",
      .year = 2020,
      .paper = "Normalized Loss Functions for Deep Learning with Noisy Labels",
      .settings = {{"active-weight", group, -1.0,
                    "Weight of normalised cross-entropy (alpha); -1: 1, or 10 with 100 classes or more", -1, 1e4},
                   {"passive-weight", group, -1.0,
                    "Weight of reverse cross-entropy (beta); -1: 1, or 0.1 with 100 classes or more", -1, 1e4},
                   {"largest-gradient", group, 5.0,
                    "Longer gradients are made as long as this, by the norm of all together; 0: none are", 0, 1e6}},
      // The paper trains an 8-layer CNN, and a ResNet at a rate of 0.1 for 200 epochs with 100 classes.
      .defaults = {{"epochs", std::int64_t{120}}, {"lr", 0.01}, {"min-lr", 0.0}, {"weight-decay", 1e-4}, {"ema", 0.0}},
      // In so few steps whole classes are not learnt with the weights for few classes: 75 instead of 48 % on 3,000
      // images of
      // Fashion-MNIST with those for many.
      .recipes = {{"fast", {{"active-weight", 10.0}, {"passive-weight", 0.1}}}},
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<NceRce>(context); }};
}

}  // namespace regroup
