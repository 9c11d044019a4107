#include "regroup/methods/joint_optim.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/soft_labels.h"

namespace regroup {
namespace {

constexpr double paper_joint = 200, paper_epochs = 320, paper_update = 70, paper_average = 10;

/// Step 1: network and labels, at a high rate that stays, so that the network cannot memorise labels.
class JointPhase : public Phase {
 public:
  JointPhase(Context& context, Learner& learner, SoftLabels& labels)
      : Phase(context),
        learner_(learner),
        labels_(labels),
        update_(phase_epochs(context.settings(), "update-epochs", paper_update, paper_epochs)),
        averaged_(phase_epochs(context.settings(), "mean-epochs", paper_average, paper_epochs)),
        history_(at::full({averaged_, labels.rows().size(0), labels.rows().size(1)},
                          std::numeric_limits<double>::quiet_NaN(), labels.rows().options())) {}

  void begin_epoch(int epoch) override { now(epoch).fill_(std::numeric_limits<double>::quiet_NaN()); }

  /// L = CE(s, p) + alpha KL(uniform || mean p) + beta H(p). CE differs from the paper's KL(s || p) by what has no
  /// gradient.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const Settings& settings = context().settings();
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    now(step.epoch).index_copy_(0, batch.index, at::softmax(logits.detach(), 1));
    const at::Tensor s = context().smoothed(labels_.of(batch));
    return learner_.step(soft_cross_entropy(logits, s).mean() +
                         settings.number("prior-weight") * uniform_prior_penalty(logits) +
                         settings.number("entropy-weight") * entropies(logits).mean());
  }

  /// s <- the mean of the last epochs' predictions, as they were made in training.
  void end_epoch(int epoch) override {
    if (epoch + 1 >= update_) update(epoch);
    labels_.look(context());
  }

  double rate(const Step& /*step*/) const override {
    return context().settings().number("lr") * context().settings().number("joint-rate");
  }

  void collect(State& state) { state.add("prediction_history", history_, {0, 1.0001, true}); }

 private:
  void update(int epoch) {
    // A sample that this epoch does not have keeps its label.
    const at::Tensor index = context().index_of(context().epoch_slots(epoch));
    const at::Tensor before = labels_.rows().index_select(0, index);
    const at::Tensor mean = mean_predictions(history_, labels_.rows()).index_select(0, index);
    const at::Tensor known = context().trusted(index).unsqueeze(1);
    labels_.rows().index_copy_(0, index, at::where(known, before, mean));
  }

  at::Tensor now(int epoch) { return history_[epoch % averaged_]; }

  Learner& learner_;
  SoftLabels& labels_;
  int update_, averaged_;
  at::Tensor history_;
};

/// Step 2: a fresh network learns the final labels.
class FinalPhase : public Phase {
 public:
  FinalPhase(Context& context, Learner& learner, SoftLabels& labels, int first)
      : Phase(context), learner_(learner), labels_(labels), first_(first) {}

  void begin_epoch(int epoch) override {
    if (epoch == first_) learner_.restart("");
  }

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    return learner_.step(soft_cross_entropy(logits, context().smoothed(labels_.of(batch))).mean());
  }

  void end_epoch(int /*epoch*/) override { labels_.look(context()); }

  /// The schedule is that of this step alone.
  double rate(const Step& step) const override {
    return learning_rate(context().settings(), (step.time() - first_) / (step.epochs - first_));
  }

 private:
  Learner& learner_;
  SoftLabels& labels_;
  int first_;
};

class JointOptim : public Method {
 public:
  explicit JointOptim(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        labels_(context, 1),
        joint_epochs_(phase_epochs(context.settings(), "joint-epochs", paper_joint, paper_epochs)),
        joint_(context, *learner_, labels_),
        final_(context, *learner_, labels_, joint_epochs_) {}

  Phase& phase(int epoch) override {
    if (epoch < joint_epochs_) return joint_;
    return final_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return labels_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return labels_.guesses(); }
  std::vector<Metric> metrics() const override { return {{"labels_changed", labels_.changed()}}; }

  void collect(State& state) override {
    Method::collect(state);
    labels_.collect(state, 0, 1.0001);
    joint_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  SoftLabels labels_;
  int joint_epochs_;
  JointPhase joint_;
  FinalPhase final_;
};

}  // namespace

at::Tensor entropies(const at::Tensor& logits) {
  const at::Tensor log_p = at::log_softmax(logits, 1);
  return -(log_p.exp() * log_p).sum(1);
}

at::Tensor mean_predictions(const at::Tensor& history, const at::Tensor& otherwise) {
  // Epoch by epoch, since all at once take much memory.
  const at::Tensor sum = at::zeros_like(otherwise), count = at::zeros_like(otherwise);
  for (const at::Tensor& predictions : history.unbind()) {
    const at::Tensor known = predictions.isnan().logical_not();
    sum.add_(at::where(known, predictions, at::zeros_like(predictions)));
    count.add_(known);
  }
  return at::where(count > 0, sum / count, otherwise);
}

MethodInfo joint_optim_method() {
  constexpr std::string_view group = "Joint-Optim";
  return {
      .name = "joint-optim",
      .description = "Joint-Optim: labels become what the network says of them; then another network learns these",
      .year = 2018,
      .paper = "Joint Optimization Framework for Learning with Noisy Labels",
      .settings =
          {{"joint-epochs", group, std::int64_t{0},
            "Epochs of network and labels together, before another network learns the labels; 0: 62.5 % of the run", 0,
            1e6},
           {"update-epochs", group, std::int64_t{0}, "Epochs before labels change; 0: 22 % of the run", 0, 1e6},
           {"mean-epochs", group, std::int64_t{0}, "Epochs whose mean prediction becomes the label; 0: 3 % of the run",
            0, 100},
           {"joint-rate", group, 0.2,
            "Learning rate until then as a share of lr; for symmetric noise 0.1, 0.3, 0.5, 0.7, 0.9 the paper has 0.1, "
            "0.15, 0.2, 0.4, 0.6",
            1e-6, 100},
           {"prior-weight", group, 1.2,
            "Weight of the penalty where classes are predicted unequally often (alpha); 0.8 for asymmetric noise "
            "and symmetric 0.9",
            0, 1e4},
           {"entropy-weight", group, 0.8,
            "Weight of the predictions' entropy (beta); 0.4 for asymmetric noise and symmetric 0.9", 0, 1e4}},
      // The paper trains a PreAct ResNet of 32 layers.
      .defaults = {{"epochs", std::int64_t{320}},
                   {"lr", 0.2},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.3333, 0.6667")},
                   {"weight-decay", 1e-4},
                   {"ema", 0.0}},
      // The paper trains 1.6 times as long as others do. A fifth of the rate teaches little in so few steps, and
      // labels that follow the network too soon, or what it says in a single epoch, lose classes.
      .recipes = {{"fast",
                   {{"epochs", std::int64_t{24}},
                    {"joint-rate", 0.5},
                    {"joint-epochs", std::int64_t{14}},
                    {"update-epochs", std::int64_t{10}},
                    {"mean-epochs", std::int64_t{3}}}}},
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<JointOptim>(context); }};
}

}  // namespace regroup
