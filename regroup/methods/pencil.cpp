#include "regroup/methods/pencil.h"

#include <ATen/ATen.h>

#include "regroup/methods/joint_optim.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/soft_labels.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 320, paper_plain = 70, paper_correction = 130;

/// softmax(t) is then all but the label: 10 times its one-hot row.
constexpr double label_logit = 10;
constexpr double paper_batch = 128;

class Pencil : public Method {
 public:
  explicit Pencil(Context& context)
      : Method(context), learner_(context.make_learner("model")), labels_(context, label_logit) {
    plain_ = phase_epochs(context.settings(), "plain-epochs", paper_plain, paper_epochs);
    corrected_ = plain_ + phase_epochs(context.settings(), "correction-epochs", paper_correction, paper_epochs);
  }

  /// Cross-entropy, then the labels are learnt as well, then the network alone learns the labels that came of it.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    if (step.epoch < plain_) return learner_->step(losses.trained.mean());
    const auto classes = static_cast<double>(logits.size(1));
    at::Tensor t = labels_.of(batch);
    if (step.epoch >= corrected_) return learner_->step(classification_divergence(logits, t).mean() / classes);

    // L = KL(p || softmax(t)) / c + alpha CE(softmax(t), y) + beta / c H(p).
    const Settings& settings = context().settings();
    t.requires_grad_(true);
    const at::Tensor compatible = soft_cross_entropy(t, context().targets(batch.labels));
    const at::Tensor loss = classification_divergence(logits, t) / classes +
                            settings.number("compatibility-weight") * compatible +
                            settings.number("entropy-weight") / classes * entropies(logits);
    const double value = learner_->step(loss.mean());
    // t <- t - lambda dL/dt. The mean over a batch makes a label's step the smaller the larger the batch is: this is
    // the step of the paper's batches.
    const double rate = settings.number("label-rate") * static_cast<double>(batch.slots.size()) / paper_batch;
    const at::Tensor free = context().trusted(batch.index).logical_not().unsqueeze(1);
    labels_.rows().index_add_(0, batch.index, t.grad() * free * -rate);
    return value;
  }

  void end_epoch(int /*epoch*/) override { labels_.look(context()); }

  /// A rate that stays, and the configured schedule for the last stage.
  double rate(const Step& step) const override {
    const Settings& settings = context().settings();
    if (step.epoch < corrected_) return settings.number("lr") * settings.number("early-rate");
    return learning_rate(settings, (step.time() - corrected_) / (step.epochs - corrected_));
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return labels_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return labels_.guesses(); }
  std::vector<Metric> metrics() const override { return {{"labels_changed", labels_.changed()}}; }

  void collect(State& state) override {
    Method::collect(state);
    labels_.collect(state, -1e30, 1e30);
  }

 private:
  std::unique_ptr<Learner> learner_;
  SoftLabels labels_;  ///< t
  int plain_ = 0, corrected_ = 0;
};

}  // namespace

at::Tensor classification_divergence(const at::Tensor& logits, const at::Tensor& t) {
  const at::Tensor log_p = at::log_softmax(logits, 1);
  return (log_p.exp() * (log_p - at::log_softmax(t, 1))).sum(1);
}

MethodInfo pencil_method() {
  constexpr std::string_view group = "PENCIL";
  return {.name = "pencil",
          .description = "PENCIL: labels are distributions that are learnt by gradients, as the network is",
          .year = 2019,
          .paper = "Probabilistic End-to-end Noise Correction for Learning with Noisy Labels",
          .settings = {{"plain-epochs", group, std::int64_t{0},
                        "Epochs of cross-entropy before labels are learnt; 0: 22 % of the run", 0, 1e6},
                       {"correction-epochs", group, std::int64_t{0}, "Epochs in which they are; 0: 41 % of the run", 0,
                        1e6},
                       {"early-rate", group, 0.3, "Learning rate in these epochs as a share of lr", 1e-6, 100},
                       {"label-rate", group, 600.0,
                        "Step of the labels down their gradient (lambda), for batches of 128", 0, 1e6},
                       {"compatibility-weight", group, 0.4,
                        "Weight of what holds labels where they were (alpha); 0.1 for symmetric noise", 0, 1e4},
                       {"entropy-weight", group, 0.1,
                        "Weight of the predictions' entropy (beta); 0.8 for symmetric noise", 0, 1e4}},
          // The paper trains a PreAct ResNet of 32 layers.
          .defaults = {{"epochs", std::int64_t{320}},
                       {"lr", 0.2},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.6667")},
                       {"weight-decay", 1e-4},
                       {"ema", 0.0}},
          // The paper trains 1.6 times as long as others do. In so few steps a third of the rate teaches little, and
          // labels must
          // move faster.
          .recipes = {{"fast", {{"epochs", std::int64_t{24}}, {"early-rate", 1.0}, {"label-rate", 3000.0}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Pencil>(context); }};
}

}  // namespace regroup
