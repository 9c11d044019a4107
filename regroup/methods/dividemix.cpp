#include "regroup/methods/dividemix.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/twins.h"
#include "regroup/stats/mixture.h"
#include "regroup/stats/unit_range.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 300, paper_ramp = 16;

/// What a network learns from: the other network's belief in each label.
struct Split {
  std::vector<float> clean;            ///< probability that the label is right
  std::vector<std::int32_t> labelled;  ///< 1: it is taken for right, -1: not decided yet

  std::size_t count() const { return static_cast<std::size_t>(std::count(labelled.begin(), labelled.end(), 1)); }
};

class DivideMixPhase : public Phase {
 public:
  DivideMixPhase(Context& context, Twins& twins, int warmup) : Phase(context), twins_(twins), warmup_(warmup) {
    const Settings& settings = context.settings();
    const std::size_t samples = context.samples().size();
    for (Split& split : splits_) split = {std::vector<float>(samples, 1), std::vector<std::int32_t>(samples, -1)};
    const auto epochs = static_cast<double>(settings.integer("epochs"));
    ramp_epochs_ = static_cast<double>(settings.integer("ramp-epochs"));
    if (ramp_epochs_ == 0) ramp_epochs_ = paper_ramp * epochs / paper_epochs;
    averaged_ = static_cast<std::size_t>(settings.integer("average-epochs"));
    for (auto& losses : history_) losses.resize(averaged_ * samples, std::numeric_limits<float>::quiet_NaN());
  }

  /// Co-divide: each network's losses, on images as they are, make the split for the other one.
  void divide(int epoch) {
    total_.begin_epoch();
    const TrainingSet& samples = context().samples();
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const auto scores = context().score({&twins_[0].model(), &twins_[1].model()}, slots);
    const at::Tensor labels = at::tensor(context().labels_of(slots), at::kInt).to(at::kLong).unsqueeze(1);
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor log_p = at::log_softmax(scores[i].logits, 1);
      if (i == 0) context().record(slots, log_p);
      const at::Tensor losses = -log_p.gather(1, labels).squeeze(1).contiguous();
      Split& split = splits_[1 - i];
      const auto clean = clean_probabilities(averaged(i, epoch, slots, {losses.data_ptr<float>(), slots.size()}));
      std::fill(split.clean.begin(), split.clean.end(), 1.0F);
      for (std::size_t at = 0; at < slots.size(); ++at) split.clean[slots[at]] = clean[at];
      for (const std::uint32_t slot : samples.trusted) split.clean[slot] = 1;
      const double threshold = context().settings().number("clean-threshold");
      std::fill(split.labelled.begin(), split.labelled.end(), -1);
      for (const std::uint32_t slot : slots)
        split.labelled[slot] = static_cast<double>(split.clean[slot]) > threshold ? 1 : 0;
    }
    if (!has_labels())
      context().say(fmt::format("epoch {}: no label is taken for right; this epoch goes by cross-entropy", epoch + 1));
  }

  /// Each network's own epoch, one after the other: as many steps as its labelled set has batches.
  std::vector<Pass> passes(int epoch) const override {
    const auto half = static_cast<int>(context().settings().integer("batch-size")) / 2;
    std::vector<Pass> passes;
    for (std::uint32_t network = 0; network < 2; ++network)
      passes.push_back({split_plans(context(), splits_[network].labelled, {half, half}, epoch, network),
                        splits_[network].count() / static_cast<std::size_t>(half) + 1});
    return passes;
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const Settings& settings = context().settings();
    Learner &learner = twins_[step.pass], &other = twins_[1 - step.pass];
    const double temperature = settings.number("temperature");
    const TensorBatch& labelled = batches.front();
    const TensorBatch* const unlabelled = batches.size() > 1 ? &batches[1] : nullptr;

    // Co-refinement: w y + (1 - w) p, with p the network's own mean over the views.
    const at::Tensor w = beliefs(splits_[step.pass], labelled);
    const at::Tensor given = one_hot_rows(labelled.labels, context().samples().classes);
    const at::Tensor refined = sharpened(given * w + view_mean(learner, labelled) * (1 - w), temperature);
    // Co-guessing: both networks' means over the views, the other one in evaluation.
    at::Tensor guess;
    if (unlabelled != nullptr)
      guess =
          sharpened((view_mean(learner, *unlabelled) + view_mean_in_evaluation(other, *unlabelled)) / 2, temperature);

    Stream random = mixing_stream(context().seed(), step);
    const MixedBatch batch = mix_sets(labelled, refined, unlabelled, guess, settings.number("mix-alpha"), random);
    const at::Tensor logits = learner.forward(batch.images).logits;
    const double ramped = ramp(step.time(), warmup_, ramp_epochs_);
    const at::Tensor total = total_.of(mixmatch_losses(logits, batch), settings.number("lambda-u"), ramped);
    return learner.step(total + uniform_prior_penalty(logits));
  }

  /// Whether both networks have something to learn from.
  bool has_labels() const { return splits_[0].count() > 0 && splits_[1].count() > 0; }

  /// What the first network learns from.
  const Split& split() const { return splits_[0]; }

  std::vector<Metric> metrics() const { return total_.metrics(split().count()); }

  void collect(State& state) {
    for (std::size_t i = 0; i < 2; ++i) {
      state.add(fmt::format("clean{}", i + 1), splits_[i].clean, {0, 1});
      state.add(fmt::format("labelled{}", i + 1), splits_[i].labelled, {-1, 1});
      state.add(fmt::format("averaged_losses{}", i + 1), history_[i], {0, 1e30, true});
    }
    total_.collect(state);
  }

 private:
  at::Tensor beliefs(const Split& split, const TensorBatch& batch) const {
    const at::Tensor w = at::empty({static_cast<std::int64_t>(batch.slots.size()), 1}, at::kFloat);
    for (std::size_t i = 0; i < batch.slots.size(); ++i) w.data_ptr<float>()[i] = split.clean[batch.slots[i]];
    return w.to(batch.labels.device());
  }

  /// The mean of a network's losses over the last epochs, for noise so strong that one epoch does not tell. `losses`
  /// are those of `slots` in this epoch.
  std::vector<float> averaged(std::size_t network, int epoch, std::span<const std::uint32_t> slots,
                              std::span<const float> losses) {
    std::vector<float>& history = history_[network];
    const std::size_t samples = context().samples().size(), row = static_cast<std::size_t>(epoch) % averaged_;
    const auto now = std::span(history).subspan(row * samples, samples);
    std::fill(now.begin(), now.end(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < slots.size(); ++i) now[slots[i]] = losses[i];
    std::vector<float> means;
    for (const std::uint32_t slot : slots) {
      float sum = 0, count = 0;
      for (std::size_t r = 0; r < averaged_; ++r) {
        const float value = history[r * samples + slot];
        if (std::isnan(value)) continue;
        sum += value;
        ++count;
      }
      means.push_back(sum / count);
    }
    return means;
  }

  Twins& twins_;
  int warmup_;
  double ramp_epochs_ = 0;
  std::size_t averaged_ = 1;
  Split splits_[2];
  std::vector<float> history_[2];  ///< losses of the last epochs, a row each
  MixMatchTotal total_;
};

class DivideMix : public Method {
 public:
  explicit DivideMix(Context& context)
      : Method(context),
        warmup_(
            phase_epochs(context.settings(), "warmup-epochs", context.samples().classes < 100 ? 10 : 30, paper_epochs)),
        twins_(context),
        first_(context, twins_, context.settings().flag("confidence-penalty")),
        main_(context, twins_, warmup_) {}

  Phase& phase(int epoch) override {
    if (epoch >= warmup_ && main_.has_labels()) return main_;
    return first_;
  }

  void begin_epoch(int epoch) override {
    if (epoch >= warmup_) main_.divide(epoch);
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::logits));
    return predictors;
  }

  std::span<const float> weights() const override { return main_.split().clean; }
  std::span<const std::int32_t> labelled() const override { return main_.split().labelled; }
  std::vector<Metric> metrics() const override { return main_.metrics(); }
  double batches_held() const override { return 2; }

  void collect(State& state) override {
    Method::collect(state);
    main_.collect(state);
  }

 private:
  int warmup_;
  Twins twins_;
  TwinWarmUp first_;
  DivideMixPhase main_;
};

}  // namespace

std::vector<float> clean_probabilities(std::span<const float> losses) {
  // As published: ten steps of EM, and a variance of at least 5e-4 of the unit range.
  const std::vector<float> unit = normalise(losses, quantile_range(losses));
  double mean = 0, square = 0;
  for (const float value : unit) {
    mean += static_cast<double>(value);
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, unit.size()));
  const double deviation = std::sqrt(std::max(0.0, square / count - mean / count * mean / count));
  GaussianMixtureOptions options;
  options.max_iterations = 10;
  options.min_deviation = deviation > 0 ? std::min(1.0, std::sqrt(5e-4) / deviation) : 1;
  const GaussianMixture mixture = fit_gaussian_mixture(unit, options);
  std::vector<float> clean(unit.size());
  std::transform(unit.begin(), unit.end(), clean.begin(), [&](float value) {
    return static_cast<float>(1 - mixture.upper_posterior(static_cast<double>(value)));
  });
  return clean;
}

MethodInfo dividemix_method() {
  constexpr std::string_view group = "DivideMix";
  return {.name = "dividemix",
          .description = "DivideMix: two networks split the labels for each other by their losses, then MixMatch",
          .year = 2020,
          .paper = "DivideMix: Learning with Noisy Labels as Semi-supervised Learning",
          .settings = {{"warmup-epochs", group, std::int64_t{0},
                        "Epochs of cross-entropy before; 0: 3 % of the run, 10 % with 100 classes or more", 0, 1e6},
                       {"confidence-penalty", group, false,
                        "In these epochs, subtract the entropy of the predictions from the loss; for asymmetric noise"},
                       {"clean-threshold", group, 0.5,
                        "A label is taken for right if the mixture gives it more than this", 0, 1},
                       {"average-epochs", group, std::int64_t{1},
                        "Losses are averaged over so many epochs; 5 for 90 % noise", 1, 100},
                       {"lambda-u", group, 25.0, "Weight of the loss of unlabelled samples", 0, 1e4},
                       {"ramp-epochs", group, std::int64_t{0},
                        "Epochs in which lambda-u rises to its value; 0: 5 % of the run", 0, 1e6},
                       {"temperature", group, 0.5, "Sharpening of guessed labels; under 1 makes them more certain",
                        0.01, 10},
                       {"mix-alpha", group, 4.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}},
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{300}},
                       {"lr", 0.02},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.5")},
                       {"ema", 0.0}},
          // A network of one epoch cannot tell right labels from wrong ones: half of the run is its warm-up.
          .recipes = {{"fast", {{"warmup-epochs", std::int64_t{8}}}}},
          .needs_images = true,
          .networks = 2,
          .semi_supervised = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<DivideMix>(context); }};
}

}  // namespace regroup
