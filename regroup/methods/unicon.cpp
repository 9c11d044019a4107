#include "regroup/methods/unicon.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "regroup/methods/class_selection.h"
#include "regroup/methods/contrastive.h"
#include "regroup/methods/heads.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/strong_views.h"
#include "regroup/methods/twins.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 350, paper_ramp = 16, paper_schedule = 280;
constexpr std::int64_t embedding = 128;
constexpr double contrastive_temperature = 0.05;
/// A label counts in full below this divergence, and by 1 - divergence above.
constexpr float sure_divergence = 0.5F;

/// Selection by both networks together, then MixMatch on strong views with targets from weak ones, and SimCLR on the
/// samples that lose their label.
class UniconPhase : public Phase {
 public:
  UniconPhase(Context& context, Twins& twins, int warmup)
      : Phase(context),
        twins_(twins),
        warmup_(warmup),
        ramp_epochs_(static_cast<double>(context.settings().integer("ramp-epochs"))),
        divergences_(context.samples().size(), 0),
        labelled_(context.samples().size(), -1) {
    for (std::uint32_t i = 0; i < 2; ++i)
      heads_.emplace_back(context, twins[i], "projection", feature_size(twins[i].model()), embedding, 0, i);
    if (ramp_epochs_ == 0)
      ramp_epochs_ = paper_ramp / paper_epochs * static_cast<double>(context.settings().integer("epochs"));
  }

  /// The divergence of the mean prediction from the label decides how many labels are kept, and which. The published
  /// code selects anew between the epochs of the two networks; here both learn from the same selection.
  void select(int epoch) {
    total_.begin_epoch();
    contrast_[0] = contrast_[1] = 0;
    const TrainingSet& samples = context().samples();
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const auto scores = context().score({&twins_[0].model(), &twins_[1].model()}, slots);
    const at::Tensor p = (at::softmax(scores[0].logits, 1) + at::softmax(scores[1].logits, 1)) / 2;
    context().record(slots, p.clamp_min(1e-12).log());

    const std::vector<std::int32_t> labels = context().labels_of(slots);
    const std::vector<float> divergences = label_divergences(p, labels);
    const Settings& settings = context().settings();
    cut_ = divergence_cut(divergences, settings.number("high-divergence"), settings.number("filter"));
    const auto below =
        std::count_if(divergences.begin(), divergences.end(), [&](float d) { return static_cast<double>(d) < cut_; });
    share_ = static_cast<double>(below) / static_cast<double>(slots.size());
    // Uniform selection: of each class the same number, a share R of an equal part of all samples.
    const double part = share_ * static_cast<double>(slots.size()) / samples.classes;
    const auto selected = smallest_of_each_class(divergences, labels, samples.classes, static_cast<std::size_t>(part));
    std::fill(labelled_.begin(), labelled_.end(), -1);
    std::fill(divergences_.begin(), divergences_.end(), 0.0F);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      labelled_[slots[i]] = selected[i];
      divergences_[slots[i]] = divergences[i];
    }
    for (const std::uint32_t slot : samples.trusted) {
      if (labelled_[slot] == 0) labelled_[slot] = 1;
      divergences_[slot] = 0;
    }
    if (!has_labels())
      context().say(fmt::format("epoch {}: no label is selected; this epoch goes by cross-entropy", epoch + 1));
  }

  /// Each network's own epoch: 64 labelled samples in a step of the paper's batch of 128, and the more unlabelled ones
  /// the fewer labels are kept, at most a whole batch.
  std::vector<Pass> passes(int epoch) const override {
    const auto batch = static_cast<int>(context().settings().integer("batch-size"));
    const int half = batch / 2, others = std::clamp(static_cast<int>(half / (2 * share_)), 1, batch);
    std::vector<Pass> passes;
    for (std::uint32_t network = 0; network < 2; ++network) {
      Pass pass{split_plans(context(), labelled_, {half, others}, epoch, network),
                count() / static_cast<std::size_t>(half) + 1};
      for (BatchPlan& plan : pass.plans)
        plan.views.resize(2 * weak_views, strong_view(context().settings(), plan.views.front()));
      passes.push_back(std::move(pass));
    }
    return passes;
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const Settings& settings = context().settings();
    Learner &learner = twins_[step.pass], &other = twins_[1 - step.pass];
    const double temperature = settings.number("temperature");
    const TensorBatch weak = part(batches.front(), 0), strong = part(batches.front(), weak_views);

    // Targets are DivideMix's, from weak views: w y + (1 - w) p, and the mean of both networks.
    const at::Tensor w = beliefs(weak);
    const at::Tensor given = one_hot_rows(weak.labels, context().samples().classes);
    const at::Tensor refined = sharpened(given * w + view_mean(learner, weak) * (1 - w), temperature);
    const bool has_others = batches.size() > 1;
    TensorBatch other_strong;
    at::Tensor guess;
    if (has_others) {
      const TensorBatch other_weak = part(batches[1], 0);
      other_strong = part(batches[1], weak_views);
      guess = sharpened((view_mean(learner, other_weak) + view_mean_in_evaluation(other, other_weak)) / 2, temperature);
    }

    Stream random = mixing_stream(context().seed(), step);
    const MixedBatch batch =
        mix_sets(strong, refined, has_others ? &other_strong : nullptr, guess, settings.number("mix-alpha"), random);
    const at::Tensor logits = learner.forward(batch.images).logits;
    const double ramped = ramp(step.time(), warmup_, ramp_epochs_);
    at::Tensor loss =
        total_.of(mixmatch_losses(logits, batch), settings.number("lambda-u"), ramped) + uniform_prior_penalty(logits);
    if (has_others) {
      const auto embedded = embed(step.pass, other_strong).chunk(weak_views);
      const at::Tensor contrast = simclr_loss(embedded[0], embedded[1], contrastive_temperature);
      contrast_[0] += contrast.item<float>();
      ++contrast_[1];
      loss = loss + settings.number("lambda-c") * contrast;
    }
    return learner.step(loss);
  }

  bool has_labels() const { return count() > 0; }
  std::span<const std::int32_t> labelled() const { return labelled_; }

  std::vector<Metric> metrics() const {
    std::vector<Metric> metrics = total_.metrics(count());
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    metrics.push_back(
        {"loss_contrastive", contrast_[1] > 0 ? static_cast<double>(contrast_[0] / contrast_[1]) : unknown});
    metrics.push_back({"divergence_cut", cut_});
    metrics.push_back({"selected_share", share_});
    return metrics;
  }

  void collect(State& state) {
    state.add("labelled", labelled_, {-1, 1});
    state.add("divergences", divergences_, {0, 1.0001});
    state.add("contrast", contrast_, {.low = 0});
    state.add("divergence_cut", cut_, {0, 1});
    state.add("selected_share", share_, {0, 1});
    total_.collect(state);
  }

 private:
  static constexpr int weak_views = 2;

  std::size_t count() const { return static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 1)); }

  static TensorBatch part(const TensorBatch& batch, int first) {
    TensorBatch result = batch;
    result.views.assign(batch.views.begin() + first, batch.views.begin() + first + weak_views);
    return result;
  }

  at::Tensor embed(std::size_t network, const TensorBatch& batch) {
    return unit_rows(heads_[network](twins_[network].forward(at::cat(batch.views)).features));
  }

  at::Tensor beliefs(const TensorBatch& batch) const {
    const at::Tensor w = at::empty({static_cast<std::int64_t>(batch.slots.size()), 1}, at::kFloat);
    for (std::size_t i = 0; i < batch.slots.size(); ++i) {
      const float divergence = divergences_[batch.slots[i]];
      w.data_ptr<float>()[i] = divergence < sure_divergence ? 1 : 1 - divergence;
    }
    return w.to(batch.labels.device());
  }

  Twins& twins_;
  int warmup_;
  double ramp_epochs_;
  std::vector<Head> heads_;
  std::vector<float> divergences_;
  std::vector<std::int32_t> labelled_;
  double cut_ = 0, share_ = 0;
  MixMatchTotal total_;
  std::vector<float> contrast_ = std::vector<float>(2);  ///< the sum of the contrastive losses, and of how many
};

class Unicon : public Method {
 public:
  explicit Unicon(Context& context)
      : Method(context),
        warmup_(
            phase_epochs(context.settings(), "warmup-epochs", context.samples().classes < 100 ? 10 : 30, paper_epochs)),
        twins_(context),
        first_(context, twins_, context.settings().flag("confidence-penalty")),
        main_(context, twins_, warmup_) {
    // The published scheduler rises again after its 280 epochs, which nobody can have meant; here its last rate stays.
    const auto epochs = static_cast<double>(context.settings().integer("epochs"));
    const int schedule = std::max(1, static_cast<int>(std::lround(epochs * paper_schedule / paper_epochs)));
    first_.schedule_epochs = main_.schedule_epochs = schedule;
  }

  Phase& phase(int epoch) override {
    if (epoch >= warmup_ && main_.has_labels()) return main_;
    return first_;
  }

  void begin_epoch(int epoch) override {
    if (epoch >= warmup_) main_.select(epoch);
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::logits));
    return predictors;
  }

  std::span<const std::int32_t> labelled() const override { return main_.labelled(); }
  std::vector<Metric> metrics() const override { return main_.metrics(); }
  double batches_held() const override { return 3; }

  void collect(State& state) override {
    Method::collect(state);
    main_.collect(state);
  }

 private:
  int warmup_;
  Twins twins_;
  TwinWarmUp first_;
  UniconPhase main_;
};

}  // namespace

std::vector<float> label_divergences(const at::Tensor& probabilities, std::span<const std::int32_t> labels) {
  const auto at_label = [&, p = probabilities.to(at::kCPU, at::kFloat).contiguous()](std::size_t i) {
    return static_cast<double>(p.data_ptr<float>()[static_cast<std::int64_t>(i) * p.size(1) + labels[i]]);
  };
  // JSD(p, y) with m = (p + y) / 2: where y is 0, m is p / 2, so that only p_y counts. In bits, so that it ends at 1,
  // as the paper's threshold of 0.7 for the mean supposes. The published code takes natural logarithms, of which no
  // mean is above log 2 = 0.69: there the cut is always the mean.
  std::vector<float> divergences;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double p = at_label(i);
    const double q = std::isfinite(p) ? std::clamp(p, 0.0, 1.0) : 0, m = (1 + q) / 2;
    const double of_prediction = (1 - q) + (q > 0 ? q * std::log2(q / m) : 0);
    divergences.push_back(static_cast<float>(std::max(0.0, (of_prediction - std::log2(m)) / 2)));
  }
  return divergences;
}

double divergence_cut(std::span<const float> divergences, double high, double tau) {
  if (divergences.empty()) return 0;
  const double mean =
      std::accumulate(divergences.begin(), divergences.end(), 0.0) / static_cast<double>(divergences.size());
  const auto least = static_cast<double>(*std::min_element(divergences.begin(), divergences.end()));
  return mean > high ? mean - (mean - least) / tau : mean;
}

MethodInfo unicon_method() {
  constexpr std::string_view group = "UNICON";
  std::vector<SettingInfo> settings{
      {"warmup-epochs", group, std::int64_t{0},
       "Epochs of cross-entropy before; 0: 3 % of the run, 9 % with 100 classes or more", 0, 1e6},
      {"confidence-penalty", group, false,
       "In these epochs, subtract the entropy of the predictions from the loss; for asymmetric noise"},
      {"high-divergence", group, 0.7,
       "Mean divergence of labels from predictions, 0 to 1, above which fewer labels are kept than are below the mean",
       0, 1},
      {"filter", group, 5.0, "The lower, the fewer labels are kept then", 1, 1000},
      {"lambda-u", group, 30.0, "Weight of the loss of unlabelled samples", 0, 1e4},
      {"lambda-c", group, 0.025, "Weight of the contrastive loss", 0, 1e4},
      {"ramp-epochs", group, std::int64_t{0}, "Epochs in which lambda-u rises to its value; 0: 5 % of the run", 0, 1e6},
      {"temperature", group, 0.5, "Sharpening of guessed labels; under 1 makes them more certain", 0.01, 10},
      {"mix-alpha", group, 4.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}};
  // In place of AutoAugment, whose policies apply two operations.
  const auto views = strong_view_settings(2, 0.3);
  settings.insert(settings.end(), views.begin(), views.end());
  return {.name = "unicon",
          .description = "UNICON: the same share of each class keeps its labels; then MixMatch and a contrastive loss",
          .year = 2022,
          .paper = "UNICON: Combating Label Noise Through Uniform Selection and Contrastive Learning",
          .settings = settings,
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{350}},
                       {"lr", 0.02},
                       {"min-lr", 2e-4},
                       {"ema", 0.0}},
          // As DivideMix: a network of one epoch cannot tell right labels from wrong ones.
          .recipes = {{"fast", {{"warmup-epochs", std::int64_t{8}}}}},
          .needs_images = true,
          .networks = 2,
          .semi_supervised = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Unicon>(context); }};
}

}  // namespace regroup
