#include "regroup/methods/dmi.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/ce_start.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_ce_epochs = 120, paper_epochs = 220;

/// In so many samples per class, hardly any class of a batch is missing.
constexpr double enough_per_class = 10;

class DmiPhase : public Phase {
 public:
  DmiPhase(Context& context, Learner& learner)
      : Phase(context), learner_(learner), joint_(at::zeros({context.samples().classes, context.samples().classes})) {
    batch_ = static_cast<int>(context.settings().integer("dmi-batch-size"));
    memory_ = std::max(0.0, 1 - batch_ / (enough_per_class * context.samples().classes));
  }

  /// The U of all samples of the first epoch, by the network that cross-entropy has trained.
  void begin(Network& trained, int epoch) {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const at::Tensor p = at::softmax(context().score({&trained}, slots).front().logits, 1);
    joint_.copy_(joint_distribution(p, at::tensor(context().labels_of(slots), at::kInt).to(at::kLong)));
  }

  std::vector<Pass> passes(int epoch) const override {
    BatchPlan plan = context().plan_epoch(epoch);
    plan.batch_size = batch_;
    return {whole(std::move(plan))};
  }

  /// A batch that has no sample of some class has a determinant of 0 for any prediction, and so a gradient of 0: with
  /// 100 classes and the published batch of 256, no batch teaches anything. Where a batch is that small beside the
  /// number of classes, the determinant is that of a running mean of U, of which the batch is the latest part, and the
  /// gradient goes through the batch alone. Otherwise the mean is the batch: the loss as published.
  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    const at::Tensor now = joint_distribution(at::softmax(logits, 1), batch.labels);
    {
      const at::NoGradGuard no_grad;
      joint_.mul_(memory_).add_(now.to(at::kCPU), 1 - memory_);
    }
    const at::Tensor loss = determinant_loss(now - now.detach() + joint_.to(now.device()));
    // A singular U has no gradient, and the network stays as it is.
    if (!loss.defined()) return 0;
    return learner_.step(loss);
  }

  double rate(const Step& /*step*/) const override { return context().settings().number("dmi-lr"); }
  double batches_held() const { return batch_ / static_cast<double>(context().settings().integer("batch-size")); }

  /// log|det U|, less that of a U that is all on its diagonal, in equal parts: 0 where labels and predictions agree.
  double information() const {
    const at::Tensor loss = determinant_loss(joint_);
    const double classes = context().samples().classes;
    return loss.defined() ? -loss.item<double>() + classes * std::log(classes)
                          : std::numeric_limits<double>::quiet_NaN();
  }

  void collect(State& state) { state.add("joint", joint_, {0, 1}); }

 private:
  Learner& learner_;
  at::Tensor joint_;
  int batch_;
  double memory_;  ///< the share of the mean that stays from batch to batch
};

class Dmi : public Method {
 public:
  explicit Dmi(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        start_(context, *learner_, phase_epochs(context.settings(), "ce-epochs", paper_ce_epochs, paper_epochs),
               CeStart::Best::most_right),
        dmi_(context, *learner_) {}

  void begin_epoch(int epoch) override {
    start_.begin_run(epoch);
    if (epoch != start_.epochs()) return;
    learner_->become(start_.best());
    dmi_.begin(start_.best(), epoch);
  }

  Phase& phase(int epoch) override {
    if (epoch < start_.epochs()) return start_;
    return dmi_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::vector<Metric> metrics() const override { return {{"information", dmi_.information()}}; }
  double batches_held() const override { return std::max(1.0, dmi_.batches_held()); }

  void collect(State& state) override {
    Method::collect(state);
    start_.collect(state);
    dmi_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  CeStart start_;
  DmiPhase dmi_;
};

}  // namespace

at::Tensor joint_distribution(const at::Tensor& probabilities, const at::Tensor& labels) {
  return one_hot_rows(labels, probabilities.size(1)).t().mm(probabilities.to(at::kFloat)) /
         static_cast<double>(labels.size(0));
}

at::Tensor determinant_loss(const at::Tensor& joint) {
  const at::Tensor log_determinant = std::get<1>(at::slogdet(joint.to(at::kDouble)));
  if (!std::isfinite(log_determinant.item<double>())) return {};
  return -log_determinant;
}

MethodInfo dmi_method() {
  constexpr std::string_view group = "DMI";
  std::vector<SettingInfo> settings = ce_start_settings();
  settings.insert(settings.end(),
                  {{"dmi-lr", group, 1e-6, "Learning rate after cross-entropy", 1e-12, 10},
                   {"dmi-batch-size", group, std::int64_t{256}, "Images per step after cross-entropy", 2, 65536}});
  return {.name = "dmi",
          .description = "DMI: after cross-entropy, the determinant of how predictions and labels go together grows",
          .year = 2019,
          .paper = "L_DMI: A Novel Information-theoretic Loss Function for Training Deep Nets Robust to Label Noise",
          .settings = settings,
          .defaults = {{"epochs", std::int64_t{220}},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.6667")},
                       {"weight-decay", 1e-4},
                       {"ema", 0.0}},
          // So few steps need to be as much larger for the same way.
          .recipes = {{"fast", {{"ce-epochs", std::int64_t{12}}, {"dmi-lr", 3e-5}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Dmi>(context); }};
}

}  // namespace regroup
