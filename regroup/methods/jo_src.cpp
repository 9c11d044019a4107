#include "regroup/methods/jo_src.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numbers>

#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 200, paper_warmup = 10, late_share = 80 / paper_epochs;
constexpr double late_beta1 = 0.1;
/// What the ema says about an image without a known class is divided by this and goes through another softmax.
constexpr double flattening = 10;

/// How the samples of a batch are learnt from.
struct Roles {
  at::Tensor clean, agreeing, other;  ///< 1 or 0 each; one of them is 1
};

class JoSrc : public Method {
 public:
  explicit JoSrc(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        warmup_(phase_epochs(context.settings(), "warmup-epochs", paper_warmup, paper_epochs)),
        trusted_(context.samples().is_trusted()),
        labelled_(context.samples().size(), -1),
        guesses_(context.samples().size(), -1) {}

  void begin_epoch(int /*epoch*/) override {
    std::fill(labelled_.begin(), labelled_.end(), -1);
    std::fill(guesses_.begin(), guesses_.end(), -1);
  }

  std::vector<Pass> passes(int epoch) const override {
    BatchPlan plan = context().plan_epoch(epoch);
    plan.views.resize(2, plan.views.front());
    return {whole(std::move(plan))};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const Settings& settings = context().settings();
    if (step.share() >= late_share && settings.text("optimizer") == "adam") learner_->optimizer().momentum = late_beta1;
    at::Tensor logits[2], log_p[2];
    for (std::size_t i = 0; i < 2; ++i) {
      logits[i] = learner_->forward(batch.views[i]).logits.to(at::kFloat);
      log_p[i] = at::log_softmax(logits[i], 1);
    }
    context().record(batch, context().losses(logits[0], batch.labels).plain, logits[0]);

    const at::Tensor given = given_targets(batch.labels);
    tau_ = clean_threshold(step.epoch, step.epochs, warmup_, settings.number("clean-threshold"),
                           settings.number("last-threshold"));
    const Roles roles = roles_of(batch, log_p, given);
    const auto losses = [&](const at::Tensor& targets) {
      return soft_cross_entropy(logits[0], targets) + soft_cross_entropy(logits[1], targets);
    };
    if (step.epoch < warmup_) {
      note(batch, roles, {});
      return learner_->step((losses(given) * roles.clean).sum() / roles.clean.sum().clamp_min(1));
    }

    const at::Tensor soft = ema_prediction(batch);
    note(batch, roles, soft);
    const auto column = [](const at::Tensor& mask) { return mask.unsqueeze(1); };
    const at::Tensor targets = given * column(roles.clean) + soft * column(roles.agreeing) +
                               at::softmax(soft / flattening, 1) * column(roles.other);
    // The views of samples without a known class are to differ, all others to agree.
    const at::Tensor consistency = symmetric_divergence(log_p[0], log_p[1]) * (1 - 2 * roles.other);
    const double alpha = settings.number("consistency");
    return learner_->step((1 - alpha) * losses(targets).mean() + alpha * consistency.mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return labelled_; }
  std::span<const std::int32_t> guesses() const override { return guesses_; }
  double batches_held() const override { return 2; }

  std::vector<Metric> metrics() const override {
    const auto clean = std::count(labelled_.begin(), labelled_.end(), 1);
    const auto agreeing = std::count_if(guesses_.begin(), guesses_.end(), [](std::int32_t g) { return g >= 0; });
    const auto other = std::count(labelled_.begin(), labelled_.end(), 0) - agreeing;
    return {{"clean_threshold", tau_},
            {"labelled", static_cast<double>(clean)},
            {"guessed", static_cast<double>(agreeing)},
            {"without_class", static_cast<double>(other)}};
  }

  void collect(State& state) override {
    Method::collect(state);
    state.add("labelled", labelled_, {-1, 1});
    state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
    state.add("clean_threshold", tau_, {0, 1});
  }

 private:
  /// 1 - eps on the label, the rest on the other classes alike.
  at::Tensor given_targets(const at::Tensor& labels) const {
    const int classes = context().samples().classes;
    const double eps = context().settings().number("eps"), rest = eps / std::max(1, classes - 1);
    const at::Tensor targets = one_hot_rows(labels, classes) * (1 - eps - rest) + rest;
    return smoothed(targets, context().settings().number("label-smoothing"));
  }

  /// A sample is clean if the first view's prediction is near its label; of the others, those whose views agree are of
  /// the class that they agree on, and the rest of none.
  Roles roles_of(const TensorBatch& batch, const at::Tensor (&log_p)[2], const at::Tensor& given) const {
    const at::NoGradGuard no_grad;
    at::Tensor clean = (1 - jensen_shannon(log_p[0], given.clamp_min(1e-12).log()) >= tau_).to(at::kFloat);
    for (std::size_t i = 0; i < batch.slots.size(); ++i)
      if (trusted_[batch.slots[i]]) clean[static_cast<std::int64_t>(i)] = 1;
    const at::Tensor agree = (log_p[0].argmax(1) == log_p[1].argmax(1)).to(at::kFloat);
    return {clean, (1 - clean) * agree, (1 - clean) * (1 - agree)};
  }

  at::Tensor ema_prediction(const TensorBatch& batch) {
    const auto one = [&](const at::Tensor& view) {
      return at::softmax(learner_->forward_ema(view).logits.to(at::kFloat), 1);
    };
    return (one(batch.views[0]) + one(batch.views[1])) / 2;
  }

  void note(const TensorBatch& batch, const Roles& roles, const at::Tensor& soft) {
    const at::Tensor clean = roles.clean.to(at::kCPU).contiguous(), agreeing = roles.agreeing.to(at::kCPU).contiguous();
    const at::Tensor likeliest = soft.defined() ? soft.argmax(1).to(at::kCPU).contiguous() : at::Tensor();
    for (std::size_t i = 0; i < batch.slots.size(); ++i) {
      labelled_[batch.slots[i]] = clean.data_ptr<float>()[i] > 0 ? 1 : 0;
      if (!soft.defined() || agreeing.data_ptr<float>()[i] == 0) continue;
      guesses_[batch.slots[i]] = static_cast<std::int32_t>(likeliest.data_ptr<std::int64_t>()[i]);
    }
  }

  std::unique_ptr<Learner> learner_;
  int warmup_;
  std::vector<bool> trusted_;
  std::vector<std::int32_t> labelled_, guesses_;
  double tau_ = 0;
};

}  // namespace

at::Tensor jensen_shannon(const at::Tensor& log_p, const at::Tensor& log_q) {
  const at::Tensor log_m = at::logaddexp(log_p, log_q) - std::numbers::ln2;
  const auto divergence = [&](const at::Tensor& log_x) { return (log_x.exp() * (log_x - log_m)).sum(1); };
  return (divergence(log_p) + divergence(log_q)) / (2 * std::numbers::ln2);
}

at::Tensor symmetric_divergence(const at::Tensor& log_p, const at::Tensor& log_q) {
  return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(1) / std::numbers::ln2;
}

double clean_threshold(int epoch, int epochs, int warmup, double warm, double last) {
  if (epoch < warmup) return warm * epoch / warmup;
  return warm + (last - warm) * (epoch - warmup) / (epochs - warmup);
}

MethodInfo jo_src_method() {
  constexpr std::string_view group = "Jo-SRC";
  const std::pair<std::string_view, SettingValue> no_smoothing{"label-smoothing", 0.0};
  return {
      .name = "jo-src",
      .description = "Jo-SRC: two views tell clean labels, wrong labels and images without a class apart",
      .year = 2021,
      .paper = "Jo-SRC: A Contrastive Approach for Combating Noisy Labels",
      .settings = {{"warmup-epochs", group, std::int64_t{0},
                    "Epochs that learn from clean labels alone, while the threshold rises; 0: 5 % of the run", 0, 1e6},
                   {"eps", group, 0.6, "Share of each label that is spread over the other classes", 0, 0.99},
                   {"clean-threshold", group, 0.75,
                    "Likeness of prediction and label, 0 to 1, from which a label is clean, after these epochs", 0, 1},
                   {"last-threshold", group, 0.95, "The same at the end of the run", 0, 1},
                   {"consistency", group, 0.5,
                    "Weight of the divergence of the two views' predictions; the loss of the labels has the rest", 0,
                    1}},
      .defaults = {{"optimizer", std::string("adam")},
                   {"lr", 1e-3},
                   {"min-lr", 0.0},
                   {"schedule", std::string("late-linear")},
                   {"weight-decay", 0.0},
                   {"ema", 0.99}},
      // It smooths labels by its own eps; with more of that no prediction is near a label. Fine-tuning has a rate for
      // SGD, which the paper takes there, too.
      .recipes = {{"fast", {no_smoothing}},
                  {"photos", {no_smoothing}},
                  {"finetune", {no_smoothing, {"optimizer", std::string("sgd")}, {"schedule", std::string("cosine")}}}},
      .needs_images = true,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<JoSrc>(context); }};
}

}  // namespace regroup
