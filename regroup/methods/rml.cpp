#include "regroup/methods/rml.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/rml/groups.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {

namespace {

class Rml : public Method {
 public:
  explicit Rml(Context& context) : Method(context), learner_(context.make_learner("model")), rml_(context, *learner_) {}

  Phase& phase(int /*epoch*/) override { return rml_; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::string primary() override { return learner_->ema() != nullptr ? "ema" : "model"; }
  std::span<const float> weights() const override { return rml_.weights(); }
  double own_seconds() const override { return rml_.own_seconds(); }
  std::vector<Metric> metrics() const override { return rml_.metrics(); }

  void collect(State& state) override {
    Method::collect(state);
    rml_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  RmlPhase rml_;
};

}  // namespace

RmlPhase::RmlPhase(Context& context, Learner& learner)
    : Phase(context),
      learner_(learner),
      estimator_(ClassIndex(context.samples().labels, context.samples().classes),
                 regroup_options(context.settings(), context.samples().limit_share), context.threads()),
      in_pass_(context.settings().text("record-losses") == "in-pass"),
      weights_(context.samples().size(), 1.0F) {
  estimator_.noise_rates().resize(static_cast<std::size_t>(context.settings().integer("epochs")),
                                  std::numeric_limits<float>::quiet_NaN());
}

void RmlPhase::begin_epoch(int epoch) {
  if (epoch == 0) return;
  const double start = clock_seconds();
  const auto number = static_cast<std::uint32_t>(epoch);
  // The predictions of all epochs so far tell more than the losses of the last.
  if (const auto rate = context().noise_rate())
    std::fill_n(estimator_.noise_rates().begin(), epoch + 1, static_cast<float>(*rate));
  const RegroupReport report =
      context().draws_epochs() ? weigh_drawn(number) : estimator_.weights(context().book().losses(), number, weights_);
  threshold_ = threshold_of(weights_, context().book().losses());
  for (const std::uint32_t slot : context().samples().trusted) weights_[slot] = 1;
  if (report.noise_rate) noise_rate_ = report.settled_noise_rate;
  own_seconds_ += clock_seconds() - start;
}

double RmlPhase::step(const Step& /*step*/, std::span<const TensorBatch> batches) {
  const TensorBatch& batch = batches.front();
  const at::Tensor logits = learner_.forward(batch.views.front()).logits;
  const auto losses = context().losses(logits, batch.labels);

  const double start = clock_seconds();
  const at::Tensor weights = at::empty({static_cast<std::int64_t>(batch.slots.size())}, at::kFloat);
  std::ranges::transform(batch.slots, weights.data_ptr<float>(), [&](std::uint32_t slot) { return weights_[slot]; });
  context().record(batch, losses.plain, logits);  // step 1
  own_seconds_ += clock_seconds() - start;

  return learner_.step((losses.trained * weights.to(logits.device())).mean());
}

void RmlPhase::end_epoch(int epoch) {
  if (in_pass_ || context().draws_epochs()) return;
  const double start = clock_seconds();
  record(context().epoch_slots(epoch));
  own_seconds_ += clock_seconds() - start;
}

RegroupReport RmlPhase::weigh_drawn(std::uint32_t epoch) {
  const std::vector<std::uint32_t> slots = context().epoch_slots(static_cast<int>(epoch));
  record(slots);
  std::vector<float> drawn(slots.size());
  RegroupReport report = estimator_.weights(context().recorded_losses(slots), epoch, slots, drawn);
  std::fill(weights_.begin(), weights_.end(), 1.0F);
  for (std::size_t i = 0; i < slots.size(); ++i) weights_[slots[i]] = drawn[i];
  return report;
}

void RmlPhase::record(std::span<const std::uint32_t> slots) {
  context().record(slots, at::log_softmax(context().score({&learner_.model()}, slots).front().logits, 1));
}

std::vector<Metric> RmlPhase::metrics() const {
  return {{"estimated_noise_rate", noise_rate_}, {"threshold", threshold_}};
}

void RmlPhase::collect(State& state) {
  state.add("weights", weights_, {0, 1});
  state.add("noise_rate", noise_rate_, {0, 1, true});
  state.add("threshold", threshold_, {.low = 0, .may_be_unknown = true});
}

double threshold_of(std::span<const float> weights, std::span<const float> losses) {
  double sum = 0;
  std::size_t lowered = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] >= 1) continue;
    sum += static_cast<double>(weights[i]) * static_cast<double>(losses[i]);
    ++lowered;
  }
  return lowered > 0 ? sum / static_cast<double>(lowered) : std::numeric_limits<double>::quiet_NaN();
}

RegroupOptions regroup_options(const Settings& settings, double limit_share) {
  RegroupOptions options;
  options.groups = static_cast<int>(settings.integer("n"));
  options.selection.epsilon = settings.number("eps");
  options.selection.process_losses = !settings.flag("no-loss-processing");
  const std::string& estimate = settings.text("estimate");
  options.centre = estimate == "mean"              ? Centre::mean
                   : estimate == "mean-of-medians" ? Centre::mean_of_medians
                                                   : Centre::median_of_means;
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
        settings.flag("scale-k") ? std::max(1, static_cast<int>(std::lround(count * limit_share))) : count);
  }
  return options;
}

std::vector<SettingInfo> rml_settings() {
  constexpr std::string_view group = "Regroup Median Loss";
  return {
      {"n", group, std::int64_t{6}, "Number of groups per estimate, an even number", 2, most_groups},
      {"k", group, std::string("auto"),
       "Samples per group: a count, or auto, which follows the noise rate estimated while training"},
      {"scale-k", group, false,
       "Make a given k smaller in proportion where --limit makes the classes smaller; presets switch it on"},
      {"select", group, 0.0, "Share of the class that an estimate draws, instead of k; 0: k decides", 0, 1},
      {"eps", group, 1.0, "Epsilon in the processed loss l(l + epsilon) by which samples are drawn", 0, 1000},
      {"record-losses",
       group,
       std::string("in-pass"),
       "Record losses in the training pass, or in an extra pass at the end of each epoch (a third more time)",
       0,
       0,
       {"in-pass", "epoch-end"}},
      {"no-loss-processing", group, false, "Ablation: draw samples by the plain loss l instead of the processed one"},
      {"estimate",
       group,
       std::string("median-of-means"),
       "What an estimate is: the median of group means and own loss; ablations: the mean of all that is drawn, and the "
       "mean "
       "of group medians",
       0,
       0,
       {"median-of-means", "mean", "mean-of-medians"}}};
}

MethodInfo rml_method() {
  return {
      .name = "rml",
      .description = "Regroup Median Loss: the loss of a sample becomes a robust estimate from others with its label",
      .year = 2024,
      .paper = "Regroup Median Loss for Combating Label Noise",
      .settings = rml_settings(),
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Rml>(context); }};
}

}  // namespace regroup
