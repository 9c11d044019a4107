#include "regroup/methods/rml_semi.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "regroup/methods/guessing.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/rml.h"

namespace regroup {
namespace {

constexpr int views = 2;

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

class RmlSemi : public Rml {
 public:
  explicit RmlSemi(Context& context)
      : Rml(context), kept_(context.samples().size(), -1), guesses_(context.samples().size(), -1), sums_(4) {
    const Settings& settings = context.settings();
    const auto epochs = static_cast<int>(settings.integer("epochs"));
    warmup_ = static_cast<int>(settings.integer("warmup-epochs"));
    if (warmup_ == 0) warmup_ = default_warmup(epochs, context.samples().classes);
    ramp_ = static_cast<double>(settings.integer("ramp-epochs"));
    if (ramp_ == 0) ramp_ = default_ramp(epochs, warmup_);
  }

  void begin_epoch(int epoch) override {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    if (epoch < warmup_) return Rml::begin_epoch(epoch);
    split(epoch);
    if (labelled_count() == 0) {
      context().say(fmt::format("epoch {}: no label agrees with both models; this epoch goes by RML", epoch + 1));
      Rml::begin_epoch(epoch);
    }
  }

  std::vector<BatchPlan> plan(int epoch) const override {
    if (!is_semi(epoch)) return Rml::plan(epoch);
    std::vector<std::uint32_t> slots[2];  // unlabelled, labelled
    for (std::size_t slot = 0; slot < kept_.size(); ++slot)
      slots[kept_[slot] == 1 ? 1 : 0].push_back(static_cast<std::uint32_t>(slot));
    const auto size = static_cast<int>(context().settings().integer("batch-size"));
    const BatchShare share = share_batch(size, slots[1].size(), slots[0].size());
    std::vector<BatchPlan> plans;
    for (const auto& [samples, part, stream] :
         {std::tuple{&slots[1], share.labelled, 1U}, std::tuple{&slots[0], share.unlabelled, 2U}}) {
      if (samples->empty()) continue;
      plans.push_back(context().plan(*samples, epoch, stream));
      plans.back().batch_size = part;
      plans.back().views.resize(views, plans.back().views.front());
    }
    return plans;
  }

  /// As many as a plain epoch has: the smaller set has several turns.
  std::size_t steps(const std::vector<BatchPlan>& plans) const override {
    if (plans.front().views.size() == 1) return Rml::steps(plans);
    return std::max<std::size_t>(
        1, context().samples().size() / static_cast<std::size_t>(context().settings().integer("batch-size")));
  }

  void set_rate(const Progress& progress) override {
    const double own = context().settings().number("semi-lr");
    if (own == 0) {
      Rml::set_rate(progress);
    } else if (progress.epoch < warmup_) {
      Rml::set_rate({progress.epoch, warmup_, progress.step, progress.steps});
    } else {
      learner().rate = own;
    }
    if (progress.epoch != progress_.epoch || !class_weights_.defined())
      class_weights_ =
          at::tensor(regroup::class_weights(context().samples().labels, kept_, context().samples().classes));
    progress_ = progress;
  }

  void step(std::span<const TensorBatch> batches) override {
    if (!is_semi(progress_.epoch)) return Rml::step(batches);
    const TensorBatch& labelled = batches.front();
    std::vector<at::Tensor> images = labelled.views;
    std::vector<at::Tensor> targets(views, one_hot_rows(labelled.labels, context().samples().classes));
    if (batches.size() > 1) {
      const at::Tensor guess = guess_labels(batches[1]);
      images.insert(images.end(), batches[1].views.begin(), batches[1].views.end());
      targets.insert(targets.end(), views, guess);
    }

    // All views of both sets are mixed with a permutation of the whole.
    const Settings& settings = context().settings();
    Stream random(context().seed(), Purpose::mixing, static_cast<std::uint32_t>(progress_.epoch),
                  static_cast<std::uint32_t>(progress_.step));
    const bool is_late = 2 * progress_.epoch >= progress_.epochs;
    double lambda = symmetric_beta(random, settings.number(is_late ? "mix-alpha-late" : "mix-alpha"));
    lambda = std::max(lambda, 1 - lambda);
    const at::Tensor x = at::cat(images), t = at::cat(targets);
    const at::Tensor partners = at::tensor(permutation(random, x.size(0)), at::kLong).to(x.device());
    const at::Tensor target = mixed(t, partners, lambda);
    const at::Tensor logits = learner().forward(mixed(x, partners, lambda)).logits;

    const std::int64_t first = views * labelled.labels.size(0);
    const at::Tensor labelled_loss =
        soft_cross_entropy(logits.slice(0, 0, first), target.slice(0, 0, first), class_weights_.to(x.device())).mean();
    at::Tensor loss = labelled_loss;
    if (batches.size() > 1) {
      const at::Tensor unlabelled_loss =
          (at::softmax(logits.slice(0, first), 1) - target.slice(0, first)).square().mean();
      loss = loss + settings.number("lambda-u") * ramp_now() * unlabelled_loss;
      sums_[1] += unlabelled_loss.item<float>();
    }
    sums_[0] += labelled_loss.item<float>();
    ++sums_[2];
    sums_[3] = static_cast<float>(ramp_now());
    learner().step(loss);
  }

  /// The split records the losses.
  void end_epoch(int epoch) override {
    if (!is_semi(epoch)) Rml::end_epoch(epoch);
  }

  std::span<const std::int32_t> labelled() const override { return kept_; }
  std::span<const std::int32_t> guesses() const override { return guesses_; }

  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = Rml::metrics();
    const bool semi = sums_[2] > 0;
    const auto mean = [&](float sum) {
      return semi ? static_cast<double>(sum / sums_[2]) : std::numeric_limits<double>::quiet_NaN();
    };
    metrics.push_back({"labelled", semi ? static_cast<double>(labelled_count()) : mean(0)});
    metrics.push_back({"loss_labelled", mean(sums_[0])});
    metrics.push_back({"loss_unlabelled", mean(sums_[1])});
    metrics.push_back({"ramp", static_cast<double>(sums_[3])});
    return metrics;
  }

  void collect(State& state) override {
    Rml::collect(state);
    state.add("kept", kept_, {-1, 1});
    state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
    state.add("semi_losses", sums_, {.low = 0});
  }

 private:
  std::size_t labelled_count() const { return static_cast<std::size_t>(std::count(kept_.begin(), kept_.end(), 1)); }
  bool is_semi(int epoch) const { return epoch >= warmup_ && labelled_count() > 0; }

  double ramp_now() const {
    const double steps = std::max<double>(1, static_cast<double>(progress_.steps));
    return ramp(progress_.epoch + static_cast<double>(progress_.step) / steps, warmup_, ramp_);
  }

  /// A sample stays labelled if both the network and its momentum model predict its label, each by the mean over two
  /// augmented views.
  void split(int epoch) {
    const TrainingSet& samples = context().samples();
    std::vector<Network*> models{&learner().model()};
    if (learner().momentum_model() != nullptr) models.push_back(learner().momentum_model());
    const auto probabilities = context().view_probabilities(models, epoch, views);
    std::ranges::copy(agreeing(probabilities, samples.labels), kept_.begin());  // the state knows where it lies
    for (const std::uint32_t slot : samples.trusted) kept_[slot] = 1;
    context().record_all(probabilities.front().clamp_min(1e-12).log());
    std::vector<bool> has_label(static_cast<std::size_t>(samples.classes));
    for (std::size_t slot = 0; slot < kept_.size(); ++slot) {
      guesses_[slot] = kept_[slot] == 1 ? -1 : context().predicted()[slot];
      mutable_weights()[slot] = static_cast<float>(kept_[slot]);
      if (kept_[slot] == 1) has_label[static_cast<std::size_t>(samples.labels[slot])] = true;
    }
    const auto without = std::count(has_label.begin(), has_label.end(), false);
    if (without > 0 && labelled_count() > 0)
      context().say(fmt::format("epoch {}: {} of {} classes have no labelled sample; their images are guessed",
                                epoch + 1, without, samples.classes));
    if (labelled_count() == kept_.size())
      context().say(fmt::format("epoch {}: every label agrees with both models; none is guessed", epoch + 1));
  }

  /// Theta's predictions for the views, as it trains, their mean sharpened.
  at::Tensor guess_labels(const TensorBatch& batch) {
    at::NoGradGuard no_grad;
    std::vector<at::Tensor> predicted;
    for (const at::Tensor& view : batch.views)
      predicted.push_back(at::softmax(learner().forward(view).logits.to(at::kFloat), 1));
    return guessed_labels(predicted, context().settings().number("temperature"));
  }

  int warmup_ = 0;
  double ramp_ = 0;
  std::vector<std::int32_t> kept_, guesses_;
  std::vector<float> sums_;  ///< of this epoch: both losses, the steps, and the ramp of the last step
  at::Tensor class_weights_;
  Progress progress_{-1, 1, 0, 1};
};

}  // namespace

MethodInfo rml_semi_method() {
  constexpr std::string_view group = "RML-Semi";
  std::vector<SettingInfo> settings = rml_settings();
  settings.insert(
      settings.end(),
      {{"warmup-epochs", group, std::int64_t{0},
        "Epochs of plain RML before; 0: an eighth of the run (9 % with 100 classes or more), but two thirds of it up "
        "to 16",
        0, 1e6},
       {"ramp-epochs", group, std::int64_t{0},
        "Epochs in which lambda-u rises to its value; 0: 4 % of the run, in short runs a third of the warm-up", 0, 1e6},
       {"semi-lr", group, 0.0,
        "Learning rate of the second phase, where the schedule ends with the first; 0: the schedule goes through both",
        0, 10},
       {"lambda-u", group, 15.0, "Weight of the loss of unlabelled samples", 0, 1e4},
       {"temperature", group, 0.5, "Of the sharpening of guessed labels; under 1 makes them more certain", 0.01, 10},
       {"mix-alpha", group, 4.0, "Shares of a mixture come from Beta(alpha, alpha) in the first half of the run", 0.01,
        1000},
       {"mix-alpha-late", group, 0.75, "The same in the second half", 0.01, 1000}});
  return {"rml-semi",
          "RML-Semi: RML, then labels that the model disagrees with are dropped and guessed (MixMatch)",
          settings,
          {{"model", std::string("preact-resnet18")}, {"epochs", std::int64_t{400}}, {"lr", 0.02}, {"min-lr", 2e-4}},
          momentum_model_if_any,
          [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<RmlSemi>(context); }};
}

}  // namespace regroup
