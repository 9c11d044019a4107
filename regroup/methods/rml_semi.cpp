#include "regroup/methods/rml_semi.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/rml.h"

namespace regroup {
namespace {

constexpr int views = 2;
constexpr float most_class_weight = 3;

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

/// The second phase: MixMatch on the samples that keep their label and those that lose it.
class SemiPhase : public Phase {
 public:
  /// The first phase ends after `warmup` epochs.
  SemiPhase(Context& context, Learner& learner, int warmup)
      : Phase(context),
        learner_(learner),
        warmup_(warmup),
        labelled_(context.samples().size(), -1),
        guesses_(context.samples().size(), -1) {
    const Settings& settings = context.settings();
    ramp_epochs_ = static_cast<double>(settings.integer("ramp-epochs"));
    if (ramp_epochs_ == 0) ramp_epochs_ = default_ramp(static_cast<int>(settings.integer("epochs")), warmup);
  }

  /// A sample of the epoch stays labelled if both the network and its ema predict its label, each by the mean over two
  /// augmented views.
  void split(int epoch, std::vector<float>& weights) {
    total_.begin_epoch();
    const TrainingSet& samples = context().samples();
    std::vector<Network*> models{&learner_.model()};
    if (learner_.ema() != nullptr) models.push_back(learner_.ema());
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const auto probabilities = context().view_probabilities(models, slots, epoch, views);
    context().record(slots, probabilities.front().clamp_min(1e-12).log());
    mark_agreeing(probabilities, slots, context(), labelled_);
    std::fill(guesses_.begin(), guesses_.end(), -1);
    std::fill(weights.begin(), weights.end(), 1.0F);
    std::vector<bool> has_label(static_cast<std::size_t>(samples.classes));
    for (const std::uint32_t slot : slots) {
      guesses_[slot] = labelled_[slot] == 1 ? -1 : context().predicted()[slot];
      weights[slot] = static_cast<float>(labelled_[slot]);
      if (labelled_[slot] == 1) has_label[static_cast<std::size_t>(samples.labels[slot])] = true;
    }
    const auto without = std::count(has_label.begin(), has_label.end(), false);
    if (without > 0 && has_labels())
      context().say(fmt::format("epoch {}: {} of {} classes have no labelled sample; their images are guessed",
                                epoch + 1, without, samples.classes));
    if (count() == slots.size())
      context().say(fmt::format("epoch {}: every label agrees with both models; none is guessed", epoch + 1));
  }

  /// As many steps as a plain epoch has: the smaller set has several turns.
  std::vector<Pass> passes(int epoch) const override {
    const auto size = static_cast<int>(context().settings().integer("batch-size"));
    const auto unlabelled = static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 0));
    const BatchShare share = share_batch(size, count(), unlabelled);
    const std::size_t steps = (count() + unlabelled) / static_cast<std::size_t>(size);
    return {{split_plans(context(), labelled_, share, epoch), std::max<std::size_t>(1, steps)}};
  }

  void begin_pass(const Step& /*first*/) override { class_weights_ = at::Tensor(); }

  double rate(const Step& step) const override {
    const double own = context().settings().number("semi-lr");
    return own > 0 ? own : Phase::rate(step);
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const Settings& settings = context().settings();
    const TrainingSet& samples = context().samples();
    const TensorBatch* const unlabelled = batches.size() > 1 ? &batches[1] : nullptr;
    const at::Tensor guess = unlabelled != nullptr
                                 ? sharpened(view_mean(learner_, *unlabelled), settings.number("temperature"))
                                 : at::Tensor();
    const double alpha = settings.number(2 * step.epoch >= step.epochs ? "mix-alpha-late" : "mix-alpha");
    Stream random = mixing_stream(context().seed(), step);
    const MixedBatch batch = mix_sets(batches.front(), one_hot_rows(batches.front().labels, samples.classes),
                                      unlabelled, guess, alpha, random);
    if (!class_weights_.defined())
      class_weights_ = at::tensor(class_weights(samples.labels, labelled_, samples.classes, most_class_weight))
                           .to(batch.images.device());
    const auto losses = mixmatch_losses(learner_.forward(batch.images).logits, batch, class_weights_);
    return learner_.step(total_.of(losses, settings.number("lambda-u"), ramp(step.time(), warmup_, ramp_epochs_)));
  }

  bool has_labels() const { return count() > 0; }
  std::span<const std::int32_t> labelled() const { return labelled_; }
  std::span<const std::int32_t> guesses() const { return guesses_; }
  std::vector<Metric> metrics() const { return total_.metrics(count()); }

  void collect(State& state) {
    state.add("labelled", labelled_, {-1, 1});
    state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
    total_.collect(state);
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 1)); }

  Learner& learner_;
  int warmup_;
  double ramp_epochs_ = 0;
  std::vector<std::int32_t> labelled_, guesses_;
  MixMatchTotal total_;
  at::Tensor class_weights_;  ///< follows from labelled_
};

class RmlSemi : public Method {
 public:
  explicit RmlSemi(Context& context)
      : Method(context),
        warmup_(warmup_of(context)),
        learner_(context.make_learner("model")),
        rml_(context, *learner_),
        semi_(context, *learner_, warmup_) {
    // The schedule ends with the first phase where the second has a rate of its own.
    if (context.settings().number("semi-lr") > 0) rml_.schedule_epochs = warmup_;
  }

  /// An epoch in which no sample keeps its label goes by RML.
  Phase& phase(int epoch) override {
    if (epoch >= warmup_ && semi_.has_labels()) return semi_;
    return rml_;
  }

  void begin_epoch(int epoch) override {
    if (epoch >= warmup_) semi_.split(epoch, rml_.weights());
    if (epoch >= warmup_ && !semi_.has_labels())
      context().say(fmt::format("epoch {}: no label agrees with both models; this epoch goes by RML", epoch + 1));
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::string primary() override { return learner_->ema() != nullptr ? "ema" : "model"; }
  std::span<const float> weights() const override { return rml_.weights(); }
  std::span<const std::int32_t> labelled() const override { return semi_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return semi_.guesses(); }
  double own_seconds() const override { return rml_.own_seconds(); }
  double batches_held() const override { return views; }

  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = semi_.metrics();
    metrics.insert(metrics.begin(), {"estimated_noise_rate", rml_.noise_rate()});
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

  int warmup_;
  std::unique_ptr<Learner> learner_;
  RmlPhase rml_;
  SemiPhase semi_;
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
          .settings = settings,
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{400}},
                       {"lr", 0.02},
                       {"min-lr", 2e-4}},
          // RML's epochs, and half as many more. The second phase takes over a network that has settled, and judges
          // labels by it: it must not be unsettled.
          .recipes = {{"fast", {{"epochs", std::int64_t{24}}, {"semi-lr", 0.03}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<RmlSemi>(context); }};
}

}  // namespace regroup
