#include "regroup/methods/rml.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>

#include "regroup/core/error.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Rml : public Method {
 public:
  explicit Rml(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        estimator_(ClassIndex(context.samples().labels, context.samples().classes),
                   regroup_options(context.settings(), context.samples().kept), context.threads()),
        in_pass_(context.settings().text("record-losses") == "in-pass"),
        weights_(context.samples().size(), 1.0F) {}

  /// Steps 2 to 6: the losses of the last epoch become the weights of this one. In the first epoch all weights are 1.
  void begin_epoch(int epoch) override {
    if (epoch == 0) return;
    const double start = now();
    const RegroupReport report =
        estimator_.weights(context().book().losses(), static_cast<std::uint32_t>(epoch), weights_);
    for (const std::uint32_t slot : context().samples().trusted) weights_[slot] = 1;
    if (report.noise_rate) noise_rate_ = report.noise_rate->rate;
    own_seconds_ += now() - start;
  }

  void step(std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);

    const double start = now();
    const at::Tensor weights = at::empty({static_cast<std::int64_t>(batch.slots.size())}, at::kFloat);
    for (std::size_t i = 0; i < batch.slots.size(); ++i) weights.data_ptr<float>()[i] = weights_[batch.slots[i]];
    context().record(batch, losses.plain, logits);  // step 1
    own_seconds_ += now() - start;

    learner_->step((losses.trained * weights.to(logits.device())).mean());
  }

  /// Step 1 in the paper's words: an extra pass over the samples at the end of an epoch.
  void end_epoch(int /*epoch*/) override {
    if (in_pass_) return;
    const double start = now();
    const at::Tensor logits = context().score(learner_->model());
    const at::Tensor labels =
        at::from_blob(const_cast<std::int32_t*>(context().samples().labels.data()), {logits.size(0)}, at::kInt)
            .to(at::kLong);
    TensorBatch all;
    all.slots.resize(context().samples().size());
    std::iota(all.slots.begin(), all.slots.end(), 0U);
    context().record(all, context().losses(logits, labels).plain, logits);
    own_seconds_ += now() - start;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const float> weights() const override { return weights_; }
  double own_seconds() const override { return own_seconds_; }
  std::vector<Metric> metrics() const override { return {{"estimated_noise_rate", noise_rate_}}; }

  void collect(State& state) override {
    Method::collect(state);
    state.add("weights", weights_);
  }

 private:
  std::unique_ptr<Learner> learner_;
  RegroupMedian estimator_;
  bool in_pass_;
  std::vector<float> weights_;
  double noise_rate_ = std::numeric_limits<double>::quiet_NaN();
  double own_seconds_ = 0;
};

}  // namespace

RegroupOptions regroup_options(const Settings& settings, double kept) {
  RegroupOptions options;
  options.groups = static_cast<int>(settings.integer("n"));
  options.selection.epsilon = settings.number("eps");
  options.selection.process_losses = !settings.flag("no-loss-processing");
  options.median = !settings.flag("no-median");
  options.seed = static_cast<std::uint64_t>(settings.integer("seed"));
  const std::string& k = settings.text("k");
  int count = 0;
  const auto [stopped, error] = std::from_chars(k.data(), k.data() + k.size(), count);
  if (settings.number("select") > 0) {
    options.draw = DrawSize::share(settings.number("select"));
  } else if (k != "auto") {
    if (error != std::errc() || stopped != k.data() + k.size() || count < 1)
      throw UserError(fmt::format("k: '{}' is neither a count nor 'auto'", k));
    options.draw = DrawSize::per_group(
        settings.flag("scale-k") ? std::max(1, static_cast<int>(std::lround(count * kept))) : count);
  }
  return options;
}

MethodInfo rml_method() {
  constexpr std::string_view group = "Regroup Median Loss";
  return {
      "rml",
      "Regroup Median Loss: the loss of a sample becomes a robust estimate from others with its label",
      {{"n", group, std::int64_t{6}, "Groups that an estimate draws, even", 2, 1000},
       {"k", group, std::string("auto"), "Samples a group: a count, or auto, by the noise rate that the losses show"},
       {"scale-k", group, false, "Where limit shrinks the classes, k shrinks with them; the presets have it so"},
       {"select", group, 0.0, "Instead of k: the share of the class that is drawn; 0 leaves it to k", 0, 1},
       {"eps", group, 1.0, "Epsilon of the loss processing l(l + epsilon)", 0, 1000},
       {"record-losses",
        group,
        std::string("in-pass"),
        "Losses come from the training pass, or from an extra pass at each epoch's end (a third more time)",
        0,
        0,
        {"in-pass", "epoch-end"}},
       {"no-loss-processing", group, false, "Ablation: select by exp(-l)"},
       {"no-median", group, false, "Ablation: the mean of the selected losses instead of the median"}},
      {},
      [](const Settings& settings) { return std::string(settings.number("ema") > 0 ? "ema" : "model"); },
      [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Rml>(context); }};
}

}  // namespace regroup
