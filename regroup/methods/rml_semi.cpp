#include "regroup/methods/rml_semi.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "regroup/methods/mixmatch_phase.h"
#include "regroup/methods/rml.h"

namespace regroup {
namespace {

/// The paper's lengths as shares of its 400 epochs. In a short run the network learns nearly all that RML can teach it
/// before it judges labels: the labels that it does not agree with are lost to it, and what it guesses instead is only
/// as good as it is (docs/RESULTS.md).
constexpr double paper_epochs = 400, paper_ramp = 16;
constexpr double short_warmup_share = 2.0 / 3;
constexpr int longest_short_warmup = 16;
int default_warmup(int epochs, int classes) {
  const double paper_warmup = classes < 100 ? 50 : 35;
  const auto share = static_cast<int>(std::lround(epochs * paper_warmup / paper_epochs));
  const auto most = static_cast<int>(std::lround(short_warmup_share * epochs));
  return std::max({1, share, std::min(longest_short_warmup, most)});
}

/// At least as long, beside the warm-up, as the paper's is beside its 50 epochs.
double default_ramp(int epochs, int warmup) { return paper_ramp * std::max(epochs / paper_epochs, warmup / 50.0); }

class RmlSemi : public Method {
 public:
  explicit RmlSemi(Context& context)
      : Method(context),
        warmup_(warmup_of(context)),
        learner_(context.make_learner("model")),
        rml_(context, *learner_),
        semi_(context, *learner_, second_phase(context)) {
    // The schedule ends with the first phase where the second has a rate of its own.
    if (context.settings().number("semi-lr") > 0) rml_.schedule_epochs = warmup_;
  }

  /// An epoch in which no sample keeps its label goes by RML.
  Phase& phase(int epoch) override {
    if (epoch >= warmup_ && semi_.has_labels()) return semi_;
    return rml_;
  }

  void begin_epoch(int epoch) override {
    if (epoch < warmup_) return;
    semi_.split(epoch);
    std::vector<float>& weights = rml_.weights();
    std::fill(weights.begin(), weights.end(), 1.0F);
    for (std::size_t slot = 0; slot < weights.size(); ++slot)
      if (semi_.labelled()[slot] == 0) weights[slot] = 0;
    if (!semi_.has_labels())
      context().say(fmt::format("epoch {}: no label agrees with both models; this epoch goes by RML", epoch + 1));
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::string primary() override { return learner_->ema() != nullptr ? "ema" : "model"; }
  std::span<const float> weights() const override { return rml_.weights(); }
  std::span<const std::int32_t> labelled() const override { return semi_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return semi_.guesses(); }
  double own_seconds() const override { return rml_.own_seconds(); }
  double batches_held() const override { return MixMatchPhase::views; }

  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = rml_.metrics();
    const std::vector<Metric> more = semi_.metrics();
    metrics.insert(metrics.end(), more.begin(), more.end());
    return metrics;
  }

  void collect(State& state) override {
    Method::collect(state);
    rml_.collect(state);
    semi_.collect(state);
  }

 private:
  static int warmup_of(const Context& context) {
    const auto given = static_cast<int>(context.settings().integer("warmup-epochs"));
    const auto epochs = static_cast<int>(context.settings().integer("epochs"));
    return given > 0 ? given : default_warmup(epochs, context.samples().classes);
  }

  /// A sample stays labelled if both the network and its ema predict its label.
  MixMatchPhase::Options second_phase(const Context& context) {
    const Settings& settings = context.settings();
    MixMatchPhase::Options options{.judges = {&learner_->model()},
                                   .start = static_cast<double>(warmup_),
                                   .ramp_epochs = static_cast<double>(settings.integer("ramp-epochs")),
                                   .lambda_u = settings.number("lambda-u"),
                                   .own_rate = settings.number("semi-lr")};
    if (learner_->ema() != nullptr) options.judges.push_back(learner_->ema());
    if (options.ramp_epochs == 0)
      options.ramp_epochs = default_ramp(static_cast<int>(settings.integer("epochs")), warmup_);
    return options;
  }

  int warmup_;
  std::unique_ptr<Learner> learner_;
  RmlPhase rml_;
  MixMatchPhase semi_;
};

}  // namespace

MethodInfo rml_semi_method() {
  constexpr std::string_view group = "RML-Semi";
  std::vector<SettingInfo> settings = rml_settings();
  settings.insert(
      settings.end(),
      {{"warmup-epochs", group, std::int64_t{0},
        "Epochs of plain RML before the second phase; 0: an eighth of the run (9 % from 100 classes on), but at least "
        "16 epochs, or two thirds of a run of under 24",
        0, 1e6},
       {"ramp-epochs", group, std::int64_t{0},
        "Epochs in which lambda-u rises from 0, after the warm-up; 0: 4 % of the run, or a third of the warm-up if "
        "that is longer",
        0, 1e6},
       {"semi-lr", group, 0.0,
        "Constant learning rate of the second phase, the schedule being that of the first; 0: one schedule for both", 0,
        10},
       {"lambda-u", group, 15.0, "Weight of the loss of samples whose labels are guessed", 0, 1e4},
       {"temperature", group, 0.5, "Temperature that sharpens guessed labels; the lower, the more certain they become",
        0.01, 10},
       {"mix-alpha", group, 4.0, "MixUp in the first half of the run: mixing shares come from Beta(alpha, alpha)", 0.01,
        1000},
       {"mix-alpha-late", group, 0.75,
        "MixUp in the second half of the run: mixing shares come from Beta(alpha, alpha)", 0.01, 1000}});
  return {.name = "rml-semi",
          .description = "RML-Semi: RML, then labels that the model disagrees with are dropped and guessed (MixMatch)",
          .year = 2024,
          .paper = "Regroup Median Loss for Combating Label Noise",
          .settings = settings,
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{400}},
                       {"lr", 0.02},
                       {"min-lr", 2e-4}},
          // RML's epochs, and half as many more. The second phase takes over a network that has settled, and judges
          // labels by it: it must not be unsettled.
          .recipes = {{"fast", {{"epochs", std::int64_t{24}}, {"semi-lr", 0.03}}}},
          .needs_images = true,
          .semi_supervised = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<RmlSemi>(context); }};
}

}  // namespace regroup
