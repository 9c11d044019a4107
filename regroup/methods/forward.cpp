#include "regroup/methods/forward.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/ce_start.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_ce_epochs = 120, paper_epochs = 2 * paper_ce_epochs;

/// Training with the corrected loss (Theorem 2): -log((T^t p)_y).
class CorrectedPhase : public Phase {
 public:
  CorrectedPhase(Context& context, Learner& learner)
      : Phase(context), learner_(learner), transition_(at::eye(context.samples().classes)) {}

  /// T from the network that cross-entropy has trained, on images as they are. The published code sets the highest
  /// probabilities of a class to 0 in place, so that the rows of later classes are read from altered predictions; here
  /// each row is read from the predictions as they are.
  void estimate(Network& trained, int epoch) {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const at::Tensor p = at::softmax(context().score({&trained}, slots).front().logits, 1);
    transition_.copy_(transition_of_anchors(p, anchor_quantile(context())));
  }

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    const at::Tensor observed = observed_log_probabilities(at::log_softmax(logits, 1), transition_.to(logits.device()),
                                                           context().trusted(batch.index).to(at::kFloat));
    return learner_.step(context().losses(observed, batch.labels).trained.mean());
  }

  const at::Tensor& transition() const { return transition_; }
  void collect(State& state) { state.add("transition", transition_, {0, 1.0001}); }

 private:
  Learner& learner_;
  at::Tensor transition_;
};

class Forward : public Method {
 public:
  explicit Forward(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        start_(context, *learner_, phase_epochs(context.settings(), "ce-epochs", paper_ce_epochs, paper_epochs),
               CeStart::Best::lowest_loss),
        corrected_(context, *learner_) {
    if (!context.settings().text("init-weights").empty()) learner_->keep_start();
    corrected_.schedule_begin = start_.epochs();
  }

  /// Algorithm 1: train by cross-entropy, estimate T, then train a fresh network with the corrected loss.
  void begin_epoch(int epoch) override {
    start_.begin_run(epoch);
    if (epoch != start_.epochs()) return;
    corrected_.estimate(start_.best(), epoch);
    learner_->restart("");
  }

  Phase& phase(int epoch) override {
    if (epoch < start_.epochs()) return start_;
    return corrected_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::vector<Metric> metrics() const override { return {diagonal_metric(corrected_.transition())}; }

  void collect(State& state) override {
    Method::collect(state);
    start_.collect(state);
    corrected_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  CeStart start_;
  CorrectedPhase corrected_;
};

}  // namespace

at::Tensor transition_of_anchors(const at::Tensor& probabilities, double quantile) {
  const std::int64_t samples = probabilities.size(0), classes = probabilities.size(1);
  // As numpy's percentile that takes the next higher value: what lies below it counts.
  const auto rank = static_cast<std::int64_t>(std::ceil(quantile * static_cast<double>(samples - 1)));
  std::vector<std::int64_t> anchors;
  for (std::int64_t i = 0; i < classes; ++i) {
    const at::Tensor p = probabilities.select(1, i).contiguous();
    const at::Tensor bound = std::get<0>(p.sort())[rank];
    const at::Tensor below = p.masked_fill(p.ge(bound), -1);
    const bool any = quantile < 1 && below.max().item<double>() >= 0;
    anchors.push_back((any ? below : p).argmax().item<std::int64_t>());
  }
  return probabilities.index_select(0, at::tensor(anchors, at::kLong));
}

double anchor_quantile(const Context& context) {
  const double given = context.settings().number("anchor-quantile");
  if (given > 0) return given;
  return context.samples().classes < 100 ? 0.97 : 1;
}

SettingInfo anchor_setting() {
  return {"anchor-quantile",
          "Transition matrix",
          0.0,
          "Quantile of the predictions for class i below which the highest gives row i of the matrix; 0: 0.97, or 1, "
          "which is no limit, with 100 classes or more",
          0,
          1};
}

at::Tensor observed_log_probabilities(const at::Tensor& log_p, const at::Tensor& transition,
                                      const at::Tensor& trusted) {
  // A label that T rules out has a large loss, and not an infinite one.
  const at::Tensor observed = log_p.exp().mm(transition).clamp_min(1e-12).log();
  if (!trusted.defined()) return observed;
  const at::Tensor verified = trusted.unsqueeze(1);
  return observed * (1 - verified) + log_p * verified;
}

Metric diagonal_metric(const at::Tensor& transition) {
  return {"transition_diagonal", transition.diagonal().to(at::kDouble).mean().item<double>()};
}

MethodInfo forward_method() {
  std::vector<SettingInfo> settings = ce_start_settings();
  settings.push_back(anchor_setting());
  return {.name = "forward",
          .description =
              "Forward: the matrix from true to observed labels, read from a network, corrects the predictions "
              "in the loss of another",
          .year = 2017,
          .paper = "Making Deep Neural Networks Robust to Label Noise: A Loss Correction Approach",
          .settings = settings,
          .defaults = {{"epochs", std::int64_t{240}},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.6667")},
                       {"weight-decay", 1e-4},
                       {"ema", 0.0}},
          // The network that the matrix is read from needs fewer epochs than the one that is trained with it.
          .recipes = {{"fast", {{"ce-epochs", std::int64_t{6}}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Forward>(context); }};
}

}  // namespace regroup
