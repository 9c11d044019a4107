#include "regroup/methods/gce.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

class Gce : public Method {
 public:
  explicit Gce(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        truncation_(context.settings().number("truncation")),
        weights_(context.samples().size(), 1.0F) {
    const bool few = context.samples().classes < 100;
    const double paper_epochs = few ? 120 : 150;
    first_ = phase_epochs(context.settings(), "whole-epochs", few ? 40 : 80, paper_epochs);
    every_ = phase_epochs(context.settings(), "prune-epochs", 10, paper_epochs);
  }

  /// Pruning: w = 1 where p_y > k, else 0. The paper asks the network that was best on validation images so far; a
  /// method sees none, so the network as it is now is asked.
  void begin_epoch(int epoch) override {
    if (truncation_ == 0 || epoch < first_) return;
    // Nobody has judged samples that are drawn for this epoch alone.
    if ((epoch - first_) % every_ != 0 && !context().draws_epochs()) return;
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const at::Tensor labels = at::tensor(context().labels_of(slots), at::kInt).to(at::kLong).unsqueeze(1);
    const at::Tensor logits = context().score({&learner_->model()}, slots).front().logits;
    const at::Tensor p = at::softmax(logits, 1).gather(1, labels).contiguous();
    std::fill(weights_.begin(), weights_.end(), 1.0F);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (static_cast<double>(p.data_ptr<float>()[i]) <= truncation_) weights_[slots[i]] = 0;
    if (std::ranges::none_of(slots, [&](std::uint32_t slot) { return weights_[slot] > 0; })) {
      std::fill(weights_.begin(), weights_.end(), 1.0F);
      context().say(fmt::format("epoch {}: no label is as likely as {}; all are learnt from", epoch + 1, truncation_));
    }
    for (const std::uint32_t slot : context().samples().trusted) weights_[slot] = 1;
  }

  /// L = w (L_q(p_y) - L_q(k)), of which L_q(k) has no gradient.
  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    const at::Tensor of_classes =
        generalised_cross_entropy(at::log_softmax(logits, 1), context().settings().number("q"));
    const at::Tensor losses = (of_classes * context().targets(batch.labels)).sum(1);
    const at::Tensor weights = at::empty({losses.size(0)}, at::kFloat);
    for (std::size_t i = 0; i < batch.slots.size(); ++i) weights.data_ptr<float>()[i] = weights_[batch.slots[i]];
    return learner_->step((losses * weights.to(logits.device())).mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const float> weights() const override { return weights_; }

  std::vector<Metric> metrics() const override {
    return {{"truncated", static_cast<double>(std::count(weights_.begin(), weights_.end(), 0.0F))}};
  }

  void collect(State& state) override {
    Method::collect(state);
    state.add("weights", weights_, {0, 1});
  }

 private:
  std::unique_ptr<Learner> learner_;
  double truncation_;
  std::vector<float> weights_;
  int first_ = 0, every_ = 1;
};

}  // namespace

at::Tensor generalised_cross_entropy(const at::Tensor& log_probabilities, double q) {
  // From the logarithm, since the gradient of p^q is infinite where p is 0.
  return (1 - (log_probabilities * q).exp()) / q;
}

MethodInfo gce_method() {
  constexpr std::string_view group = "GCE";
  return {
      .name = "gce",
      .description = "GCE: a loss between cross-entropy and the mean absolute error, without unlikely labels later on",
      .year = 2018,
      .paper = "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy Labels",
      .settings = {{"q", group, 0.7, "From cross-entropy (towards 0) to the mean absolute error (1)", 1e-3, 1},
                   {"truncation", group, 0.5,
                    "Labels that are no likelier than this are left out after whole-epochs; 0: none are", 0, 0.999},
                   {"whole-epochs", group, std::int64_t{0},
                    "Epochs before labels are left out; 0: a third of the run, 53 % with 100 classes or more", 0, 1e6},
                   {"prune-epochs", group, std::int64_t{0},
                    "Epochs from one choice of these labels to the next; 0: 8 % of the run", 0, 1e6}},
      .defaults = {{"model", std::string("resnet34")},
                   {"epochs", std::int64_t{120}},
                   {"lr", 0.01},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.3333, 0.6667")},
                   {"weight-decay", 1e-4},
                   {"ema", 0.0}},
      // A label that is not likely yet has p^q of its gradient in cross-entropy. After so few steps hardly any is
      // likelier than k, smoothed ones least of all, and those that were would be of the easiest classes.
      .recipes = {{"fast", {{"lr", 1.5}, {"label-smoothing", 0.0}, {"truncation", 0.0}}}},
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Gce>(context); }};
}

}  // namespace regroup
