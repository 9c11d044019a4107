#include "regroup/methods/mlnt.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/core/error.h"
#include "regroup/methods/ce_start.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"
#include "regroup/nn/second_derivatives.h"

namespace regroup {
namespace {

/// Three epochs of cross-entropy and one of meta-learning on Clothing1M, whose 31,250 steps have the meta loss from 500
/// on, and in full from 2,000 on.
constexpr double paper_ce_epochs = 3, paper_epochs = 4;
constexpr double meta_begin = 500 / 31250.0, meta_full = 2000 / 31250.0;

/// The teacher follows faster until the meta loss has its full weight.
constexpr double early_decay = 0.99;

constexpr std::int64_t neighbours = 10;

/// Training with the meta loss. The teacher is the ema of the network.
class MetaPhase : public Phase {
 public:
  MetaPhase(Context& context, Learner& learner, Network& features)
      : Phase(context), learner_(learner), features_(features), probe_(context.make_network()) {
    probe_->training = true;
    batches_ = static_cast<int>(context.settings().integer("synthetic-batches"));
  }

  /// Algorithm 1. Only the published code divides the KL by the number of classes, too.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const SecondDerivatives all_of_this;
    const TensorBatch& batch = batches.front();
    const at::Tensor x = batch.views.front().to(at::kFloat);
    const at::Tensor logits = learner_.forward(x).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);

    const double done = (step.time() - schedule_begin) / std::max(1, step.epochs - schedule_begin);
    const double ema = context().settings().number("ema");
    learner_.ema_decay = learner_.warming_decay(done < meta_full ? std::min(early_decay, ema) : ema);
    if (done >= meta_begin) {
      if (has_teacher_ == 0) learner_.restart_ema();
      has_teacher_ = 1;
      const double u = std::min(1.0, (done - meta_begin) / (meta_full - meta_begin));
      add_meta_gradient(step, batch, x, logits, context().settings().number("meta-weight") * meta_ramp(u));
    }
    return learner_.step(losses.trained.mean());
  }

  void begin() { has_teacher_ = 0; }
  double meta_loss() const { return meta_loss_; }

  void collect(State& state) {
    state.add("has-teacher", has_teacher_, {0, 1});
    state.add("meta-loss", meta_loss_, {.low = 0, .may_be_unknown = true});
  }

 private:
  /// For each of M synthetic label sets: one gradient step with it, after which the network shall still say what the
  /// teacher says (Eq. 3 to 5). The network's gradient is that of the mean over the sets, through the step.
  void add_meta_gradient(const Step& step, const TensorBatch& batch, const at::Tensor& x, const at::Tensor& logits,
                         double weight) {
    at::Tensor teacher, features;
    {
      const at::NoGradGuard no_grad;
      teacher = at::log_softmax(learner_.ema()->forward(x).logits, 1);
      features = features_.forward(x).features.flatten(1);
    }
    std::vector<at::Tensor> parameters;
    for (std::size_t i = 0; i < probe_->parameters().size(); ++i)
      parameters.push_back(learner_.model().parameters()[i].tensor);
    Stream random = mixing_stream(context().seed(), step);
    meta_loss_ = 0;
    for (int m = 0; m < batches_; ++m) {
      const at::Tensor labels = synthetic_labels(batch.labels, features, neighbours, random);
      const at::Tensor loss = context().losses(logits, labels).plain.mean();
      const auto stepped = after_one_step(loss, parameters, context().settings().number("meta-lr"));
      for (std::size_t i = 0; i < stepped.size(); ++i) probe_->parameters()[i].tensor.copy_(stepped[i]);
      const at::Tensor student = at::log_softmax(probe_->forward(x).logits, 1);
      const at::Tensor kl = (teacher.exp() * (teacher - student)).sum(1).mean();
      meta_loss_ += learner_.add_gradient(kl * (weight / batches_), /*keep_graph=*/true);
      for (const Parameter& parameter : probe_->parameters()) parameter.tensor.detach_();
    }
    meta_loss_ = std::max(0.0, meta_loss_);  // rounding
  }

  Learner& learner_;
  Network& features_;               ///< trained by cross-entropy, and as it was then
  std::unique_ptr<Network> probe_;  ///< computes with the weights of theta'
  int batches_;
  std::int64_t has_teacher_ = 0;
  double meta_loss_ = std::numeric_limits<double>::quiet_NaN();
};

class Mlnt : public Method {
 public:
  explicit Mlnt(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        start_(context, *learner_, phase_epochs(context.settings(), "ce-epochs", paper_ce_epochs, paper_epochs),
               CeStart::Best::most_right),
        meta_(context, *learner_, start_.best()) {
    if (learner_->ema() == nullptr) throw UserError("mlnt: the teacher is the ema of the network; give ema above 0");
    if (!context.settings().text("init-weights").empty()) learner_->keep_start();
    meta_.schedule_begin = start_.epochs();
  }

  void begin_epoch(int epoch) override {
    start_.begin_run(epoch);
    if (epoch != start_.epochs()) return;
    learner_->restart("");
    meta_.begin();
  }

  Phase& phase(int epoch) override {
    if (epoch < start_.epochs()) return start_;
    return meta_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::string primary() override { return "ema"; }
  std::vector<Metric> metrics() const override { return {{"meta_loss", meta_.meta_loss()}}; }
  double batches_held() const override { return 4; }

  void collect(State& state) override {
    Method::collect(state);
    start_.collect(state);
    meta_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  CeStart start_;
  MetaPhase meta_;
};

}  // namespace

at::Tensor synthetic_labels(const at::Tensor& labels, const at::Tensor& features, std::int64_t neighbours,
                            Stream& random) {
  const std::int64_t count = labels.size(0), most = std::min(neighbours, count - 1);
  at::Tensor given = labels.to(at::kCPU).contiguous(), changed = given.clone();
  if (most < 1) return labels;
  at::Tensor distances = at::cdist(features.to(at::kFloat), features.to(at::kFloat)).to(at::kCPU);
  distances.fill_diagonal_(std::numeric_limits<double>::infinity());
  const at::Tensor nearest = std::get<1>(distances.topk(most, 1, /*largest=*/false)).contiguous();
  const auto order = permutation(random, count);
  for (std::size_t i = 0; i < order.size() / 2; ++i) {
    const std::int64_t sample = order[i], rank = random.below(static_cast<std::uint32_t>(most));
    const std::int64_t neighbour = nearest.data_ptr<std::int64_t>()[sample * most + rank];
    changed.data_ptr<std::int64_t>()[sample] = given.data_ptr<std::int64_t>()[neighbour];
  }
  return changed.to(labels.device());
}

std::vector<at::Tensor> after_one_step(const at::Tensor& loss, const std::vector<at::Tensor>& parameters, double rate) {
  std::vector<at::Tensor> learnt;
  for (const at::Tensor& parameter : parameters)
    if (parameter.requires_grad()) learnt.push_back(parameter);
  const auto gradients = torch::autograd::grad({loss}, learnt, {}, /*retain_graph=*/true, /*create_graph=*/true,
                                               /*allow_unused=*/true);
  std::vector<at::Tensor> stepped = parameters;
  std::size_t next = 0;
  for (at::Tensor& parameter : stepped) {
    if (!parameter.requires_grad()) continue;
    const at::Tensor& gradient = gradients[next++];
    if (gradient.defined()) parameter = parameter - gradient * rate;
  }
  return stepped;
}

double meta_ramp(double u) { return std::exp(-5 * (1 - u) * (1 - u)); }

MethodInfo mlnt_method() {
  constexpr std::string_view group = "MLNT";
  std::vector<SettingInfo> settings = ce_start_settings();
  settings.insert(
      settings.end(),
      {{"synthetic-batches", group, std::int64_t{10},
        "Sets of synthetic labels per step; each takes several times as long as a step of cross-entropy", 1, 100},
       {"meta-lr", group, 0.02, "Learning rate of the step with synthetic labels", 1e-12, 10},
       {"meta-weight", group, 1.0, "Weight of the loss after these steps", 0, 1e4}});
  return {.name = "mlnt",
          .description = "MLNT: one step with synthetic noise shall leave the predictions as a teacher has them",
          .year = 2019,
          .paper = "Learning to Learn from Noisy Labeled Data",
          .settings = settings,
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{120}},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.6667")},
                       {"weight-decay", 1e-4}},
          // Features of a few epochs tell neighbours, and every further set costs the time of several steps.
          .recipes = {{"fast", {{"ce-epochs", std::int64_t{4}}, {"synthetic-batches", std::int64_t{2}}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Mlnt>(context); }};
}

}  // namespace regroup
