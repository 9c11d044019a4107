#include "regroup/methods/t_revision.h"

#include <ATen/ATen.h>

#include "regroup/methods/ce_start.h"
#include "regroup/methods/forward.h"
#include "regroup/methods/schedule.h"
#include "regroup/nn/adam.h"
#include "regroup/nn/sgd.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 420, paper_weighted = 200, paper_revision = 200;

/// The first phase takes steps of the peak learning rate, by SGD without momentum.
class EstimationPhase : public CeStart {
 public:
  using CeStart::CeStart;
  double rate(const Step& /*step*/) const override { return context().settings().number("lr"); }
};

/// The importance-weighted loss, in both phases that have it: the mean of beta * CE (Eq. 5).
class WeightedPhase : public Phase {
 public:
  WeightedPhase(Context& context, Learner& learner)
      : Phase(context),
        learner_(learner),
        transition_(at::eye(context.samples().classes)),
        slack_(learner.add("transition_slack", at::zeros_like(transition_))),
        best_(context.make_network(), "weighted") {}

  void estimate(Network& trained, int epoch) {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const at::Tensor p = at::softmax(context().score({&trained}, slots).front().logits, 1);
    transition_.copy_(transition_of_anchors(p, anchor_quantile(context())));
  }

  /// Algorithm 1, last step: the network and dT are learnt together, so that gradients also go through beta. Before,
  /// beta is held constant and dT is 0.
  void revise(bool revises) { revises_ = revises; }

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    const at::Tensor log_p = at::log_softmax(logits, 1);
    const at::Tensor beta =
        importance(log_p, observed_log_probabilities(log_p, revised(), context().trusted(batch.index).to(at::kFloat)),
                   batch.labels);
    return learner_.step(((revises_ ? beta : beta.detach()) * losses.trained).mean());
  }

  /// The best epoch is the one whose T^t p predicts the most observed labels of the validation samples.
  void end_epoch(int /*epoch*/) override {
    if (revises_) return;
    const at::Tensor logits = context().validation_logits(learner_.model());
    const auto& labels = context().samples().validation_labels;
    best_.offer(learner_.model(),
                logits.defined()
                    ? share_right(observed_log_probabilities(at::log_softmax(logits, 1), transition_), labels)
                    : std::nullopt);
  }

  double rate(const Step& step) const override {
    return revises_ ? context().settings().number("revision-lr") : Phase::rate(step);
  }

  Network& best() { return best_.network(); }
  std::vector<Metric> metrics() const {
    return {diagonal_metric(revised()), {"transition_change", slack_.detach().abs().sum().item<double>()}};
  }

  void collect(State& state) {
    state.add("transition", transition_, {0, 1.0001});
    best_.collect(state);
  }

 private:
  at::Tensor revised() const { return revised_transition(transition_.to(slack_.device()), slack_); }

  Learner& learner_;
  at::Tensor transition_, slack_;
  bool revises_ = false;  ///< follows from the epoch
  KeptNetwork best_;
};

class TRevision : public Method {
 public:
  explicit TRevision(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        start_(context, *learner_,
               phase_epochs(context.settings(), "ce-epochs", context.samples().classes < 100 ? 20 : 15, paper_epochs),
               CeStart::Best::most_right),
        weighted_(context, *learner_) {
    const int weighted = phase_epochs(context.settings(), "weighted-epochs", paper_weighted,
                                      start_.epochs() > 0 ? paper_epochs : paper_weighted + paper_revision);
    weighted_.schedule_begin = start_.epochs();
    weighted_.schedule_epochs = weighted;
    revision_ = start_.epochs() + weighted;
    const double decay = context.settings().number("weight-decay");
    learner_->add_optimizer("estimation", [decay](Network& network) {
      return std::make_unique<Sgd>(network, SgdOptions{.momentum = 0, .weight_decay = decay});
    });
    learner_->add_optimizer("revision", [decay](Network& network) {
      return std::make_unique<Adam>(network, AdamOptions{.weight_decay = decay});
    });
  }

  void begin_epoch(int epoch) override {
    start_.begin_run(epoch);
    learner_->use(epoch < start_.epochs() ? "estimation" : epoch < revision_ ? "main" : "revision");
    if (epoch == start_.epochs()) {
      weighted_.estimate(start_.best(), epoch);
      learner_->become(start_.best());
    }
    if (epoch == revision_) learner_->become(weighted_.best());
  }

  Phase& phase(int epoch) override {
    weighted_.revise(epoch >= revision_);
    if (epoch < start_.epochs()) return start_;
    return weighted_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::vector<Metric> metrics() const override { return weighted_.metrics(); }

  void collect(State& state) override {
    Method::collect(state);
    start_.collect(state);
    weighted_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  EstimationPhase start_;
  WeightedPhase weighted_;
  int revision_;  ///< the epoch from which the matrix is revised
};

}  // namespace

at::Tensor importance(const at::Tensor& log_p, const at::Tensor& observed_log_p, const at::Tensor& labels) {
  return (log_p - observed_log_p).gather(1, labels.unsqueeze(1)).squeeze(1).exp();
}

at::Tensor revised_transition(const at::Tensor& transition, const at::Tensor& slack) {
  // The published code divides columns by their sums, where the paper wants rows that sum to 1.
  const at::Tensor entries = (transition + slack).clamp_min(0);
  return entries / entries.sum(1, /*keepdim=*/true).clamp_min(1e-12);
}

MethodInfo t_revision_method() {
  constexpr std::string_view group = "T-Revision";
  std::vector<SettingInfo> settings = ce_start_settings();
  settings.insert(
      settings.end(),
      {anchor_setting(),
       {"weighted-epochs", group, std::int64_t{0},
        "Epochs of weighted training with the matrix as it was estimated; it is revised in the rest. 0: as large a "
        "share of the run as in the paper",
        0, 1e6},
       {"revision-lr", group, 5e-7, "Learning rate of Adam while the matrix is revised", 1e-12, 10}});
  return {
      .name = "t-revision",
      .description =
          "T-Revision: samples are weighted by the matrix from true to observed labels, which is then "
          "learnt together with the network",
      .year = 2019,
      .paper = "Are Anchor Points Really Indispensable in Label-Noise Learning?",
      .settings = settings,
      .defaults = {{"epochs", std::int64_t{420}},
                   {"lr", 0.01},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.2, 0.4")},
                   {"weight-decay", 1e-4},
                   {"ema", 0.0}},
      // One epoch shows no matrix, and so few steps need to be as much larger for the same way.
      .recipes = {{"fast",
                   {{"ce-epochs", std::int64_t{5}}, {"weighted-epochs", std::int64_t{9}}, {"revision-lr", 2.5e-5}}}},
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<TRevision>(context); }};
}

}  // namespace regroup
