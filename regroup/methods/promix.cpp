#include "regroup/methods/promix.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/class_selection.h"
#include "regroup/methods/fmix.h"
#include "regroup/methods/heads.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/strong_views.h"
#include "regroup/methods/twins.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 600, paper_ramp = 50, paper_expansion = 250;
constexpr double mix_alpha = 4, fmix_alpha = 1, fmix_decay = 3;
constexpr double bias_memory = 0.9999;
/// Labels are guessed until so much of a batch is chosen.
constexpr double most_chosen = 0.9;
/// The share of each class that is chosen by small losses, with as much noise at most and with more.
constexpr double little_noise = 0.3, chosen_of_little = 0.7, chosen_of_much = 0.5;

/// What one network says about a view: by its classifier and by its second head, which learns from guesses too.
struct Outputs {
  at::Tensor main, pseudo;
};

/// What a network learns from in a batch.
struct Choice {
  at::Tensor chosen;   ///< 1 or 0
  at::Tensor targets;  ///< a row each: the label, or what was guessed
};

/// The mean over the marked rows.
at::Tensor mean_over(const at::Tensor& losses, const at::Tensor& marks) {
  return (losses * marks).sum() / marks.sum().clamp_min(1);
}

class ProMixPhase : public Phase {
 public:
  ProMixPhase(Context& context, Twins& twins)
      : Phase(context),
        twins_(twins),
        trusted_(context.samples().is_trusted()),
        labelled_(context.samples().size(), -1),
        guesses_(context.samples().size(), -1) {
    const Settings& settings = context.settings();
    const int classes = context.samples().classes;
    pseudo_scale_ = classifier_scale(twins[0], context.samples().source->shape());
    for (std::uint32_t i = 0; i < 2; ++i) {
      pseudo_.emplace_back(context, twins[i], "pseudo", feature_size(twins[i].model()), classes, 0, i);
      small_[i].assign(context.samples().size(), -1);
      for (at::Tensor& bias : bias_[i]) bias = at::full({classes}, 1.0 / classes);
    }
    const auto epochs = static_cast<double>(settings.integer("epochs"));
    ramp_epochs_ = static_cast<double>(settings.integer("ramp-epochs"));
    if (ramp_epochs_ == 0) ramp_epochs_ = paper_ramp / paper_epochs * epochs;
    expansion_ = phase_epochs(settings, "expand-epochs", paper_expansion, paper_epochs);
    tau_ = settings.number("confidence");
    if (tau_ == 0) tau_ = classes < 100 ? 0.99 : 0.95;
    debias_ = settings.number("debias");
    if (debias_ < 0) debias_ = classes < 100 ? 0.8 : 0.5;
  }

  /// Class-wise small-loss selection, each network its own.
  void begin_epoch(int epoch) override {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const TrainingSet& samples = context().samples();
    const auto scores = context().score({&twins_[0].model(), &twins_[1].model()}, slots);
    context().record(slots, at::log_softmax((scores[0].logits + scores[1].logits) / 2, 1));
    const std::vector<std::int32_t> labels = context().labels_of(slots);
    const at::Tensor columns = at::tensor(labels, at::kInt).to(at::kLong).unsqueeze(1);
    share_ = chosen_share(epoch);
    const double wanted = std::ceil(share_ * static_cast<double>(slots.size()) / samples.classes);
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor losses = -at::log_softmax(scores[i].logits, 1).gather(1, columns).squeeze(1).contiguous();
      const auto small = smallest_of_each_class({losses.data_ptr<float>(), slots.size()}, labels, samples.classes,
                                                static_cast<std::size_t>(std::max(1.0, wanted)));
      std::fill(small_[i].begin(), small_[i].end(), -1);
      for (std::size_t at = 0; at < slots.size(); ++at) small_[i][slots[at]] = trusted_[slots[at]] ? 1 : small[at];
    }
    labelled_ = small_[0];
    std::fill(guesses_.begin(), guesses_.end(), -1);
  }

  std::vector<Pass> passes(int epoch) const override {
    BatchPlan plan = context().plan_epoch(epoch);
    plan.views.push_back(strong_view(context().settings(), plan.views.front()));
    return {whole(std::move(plan))};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    Outputs weak[2], strong[2];
    at::Tensor p[2];
    for (std::size_t i = 0; i < 2; ++i) {
      weak[i] = look(i, batch.views[0]);
      strong[i] = look(i, batch.views[1]);
      p[i] = at::softmax(weak[i].main.detach(), 1);
    }
    const bool guess = step.epoch >= step.epochs - expansion_;
    Choice choices[2];
    for (std::size_t i = 0; i < 2; ++i) choices[i] = choose(i, batch, p, weak[i].main.detach(), guess);
    note(batch, choices[0]);
    Stream random = mixing_stream(context().seed(), step);
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor loss = loss_of(i, step, batch, weak[i], strong[i], choices[i], random);
      sum += twins_[i].step(loss);
      follow(bias_[i][0], p[i], choices[i].chosen);
      follow(bias_[i][1], p[i], 1 - choices[i].chosen);
    }
    return sum;
  }

  std::span<const std::int32_t> labelled() const { return labelled_; }
  std::span<const std::int32_t> guesses() const { return guesses_; }

  std::vector<Metric> metrics() const {
    const bool decided = std::ranges::any_of(labelled_, [](std::int32_t known) { return known >= 0; });
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const auto count = [&](const auto& values, auto&& marked) {
      return decided ? static_cast<double>(std::ranges::count_if(values, marked)) : unknown;
    };
    return {{"small_losses", count(small_[0], [](std::int32_t mark) { return mark == 1; })},
            {"labelled", count(labelled_, [](std::int32_t mark) { return mark == 1; })},
            {"guessed", count(guesses_, [](std::int32_t label) { return label >= 0; })},
            {"chosen_share", decided ? share_ : unknown}};
  }

  void collect(State& state) {
    for (std::size_t i = 0; i < 2; ++i) {
      state.add(fmt::format("small_losses{}", i + 1), small_[i], {-1, 1});
      state.add(fmt::format("chosen_bias{}", i + 1), bias_[i][0], {0, 1.0001});
      state.add(fmt::format("other_bias{}", i + 1), bias_[i][1], {0, 1.0001});
    }
    state.add("labelled", labelled_, {-1, 1});
    state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
    state.add("chosen_share", share_, {0, 1});
  }

 private:
  /// The share of wrong labels, by which the paper sets it, is that of the epoch before as predictions show it.
  double chosen_share(int epoch) const {
    const double given = context().settings().number("chosen-share");
    if (given > 0) return given;
    const auto rate = epoch > 0 ? static_cast<double>(context().noise_rates()[static_cast<std::size_t>(epoch) - 1]) : 1;
    return rate <= little_noise ? chosen_of_little : chosen_of_much;
  }

  Outputs look(std::size_t network, const at::Tensor& images) {
    const Scores scores = twins_[network].forward(images);
    return {scores.logits.to(at::kFloat), pseudo_[network](scores.features) * pseudo_scale_};
  }

  /// d log pi: what a class is favoured by, times the strength of debiasing.
  at::Tensor favour(std::size_t network, bool of_chosen, const at::Tensor& like) const {
    return bias_[network][of_chosen ? 0 : 1].log().to(like.device()) * debias_;
  }

  /// Beside small losses, a label of which the network is sure is chosen (matched high confidence); in the last epochs
  /// also what both networks are sure of alike, labelled with what they say.
  Choice choose(std::size_t network, const TensorBatch& batch, const at::Tensor (&p)[2], const at::Tensor& logits,
                bool guess) const {
    const at::Tensor given = one_hot_rows(batch.labels, context().samples().classes);
    const at::Tensor sure = ((given * p[network]).sum(1) > tau_).to(at::kCPU, at::kInt).contiguous();
    std::vector<std::int32_t> own(batch.slots.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = small_[network][batch.slots[i]] == 1 || sure.data_ptr<std::int32_t>()[i] == 1 ? 1 : 0;
    const auto marks = [&](const std::vector<std::int32_t>& values) {
      return at::tensor(values, at::kInt).to(logits.device(), at::kFloat);
    };
    const at::Tensor keeps = marks(own).unsqueeze(1);
    const at::Tensor guessed = (logits - favour(network, true, logits)).argmax(1);
    const at::Tensor targets = given * keeps + one_hot_rows(guessed, given.size(1)) * (1 - keeps);
    if (!guess) return {marks(own), targets};
    const auto [most0, class0] = p[0].max(1);
    const auto [most1, class1] = p[1].max(1);
    const at::Tensor agree = ((most0 > tau_) & (most1 > tau_) & (class0 == class1)).to(at::kCPU, at::kInt).contiguous();
    const at::Tensor scores = (most0 + most1).to(at::kCPU).contiguous();
    return {marks(join_agreeing(own, {agree.data_ptr<std::int32_t>(), own.size()},
                                {scores.data_ptr<float>(), own.size()}, most_chosen)),
            targets};
  }

  /// The loss of both heads of a network. Both see the same mixtures of images, which the published code draws for each
  /// anew. There the weight of the guesses falls to 0 as soon as it has risen, which cannot be meant; here it stays.
  at::Tensor loss_of(std::size_t network, const Step& step, const TensorBatch& batch, const Outputs& weak,
                     const Outputs& strong, const Choice& choice, Stream& random) {
    const Settings& settings = context().settings();
    const double w = ramp(step.epoch, 0, ramp_epochs_);
    const double beta = settings.number("lambda-u") * ramp(step.epoch, 0, 2 * ramp_epochs_);
    const at::Tensor towards = favour(network, true, weak.main), away = favour(network, false, weak.main);
    const auto learn = [&](const Outputs& x, const at::Tensor& targets) {
      return soft_cross_entropy(x.main + towards, targets) + soft_cross_entropy(x.pseudo + towards, targets);
    };
    at::Tensor loss = mean_over(learn(weak, choice.targets), choice.chosen) +
                      w * mean_over(learn(strong, choice.targets), choice.chosen);

    const at::Tensor rows = choice.chosen.nonzero().squeeze(1);
    if (rows.size(0) > 1) {
      const at::Tensor images = batch.views[0].index_select(0, rows), targets = choice.targets.index_select(0, rows);
      const MixedView mix = mix_view(images, mix_alpha, random);
      loss = loss + w * learn(look(network, mix.images), mixed(targets, mix.partners, mix.share)).mean();
      const double part = symmetric_beta(random, fmix_alpha);
      const at::Tensor mask = low_frequency_mask(random, static_cast<int>(images.size(2)),
                                                 static_cast<int>(images.size(3)), fmix_decay, part)
                                  .to(images.device(), images.scalar_type());
      const at::Tensor strangers = at::tensor(permutation(random, images.size(0)), at::kLong).to(images.device());
      const at::Tensor pieced = images * mask + images.index_select(0, strangers) * (1 - mask);
      loss = loss + w * learn(look(network, pieced), mixed(targets, strangers, part)).mean();
    }

    // The second head learns from guesses for the rest, so that their errors do not reach the classifier.
    const at::Tensor guess = sharpened(at::softmax(weak.main.detach() - away, 1), settings.number("temperature"));
    const at::Tensor rest = 1 - choice.chosen;
    return loss + beta * (mean_over(soft_cross_entropy(weak.pseudo + away, guess), rest) +
                          w * mean_over(soft_cross_entropy(strong.pseudo + away, guess), rest));
  }

  /// pi, the running mean of the predictions of the chosen samples, or of the others.
  static void follow(at::Tensor& bias, const at::Tensor& p, const at::Tensor& marks) {
    if (marks.sum().item<float>() == 0) return;
    const at::Tensor mean = (p * marks.unsqueeze(1)).sum(0) / marks.sum();
    bias.mul_(bias_memory).add_(mean.to(at::kCPU), 1 - bias_memory);
  }

  void note(const TensorBatch& batch, const Choice& choice) {
    const at::Tensor chosen = choice.chosen.to(at::kCPU).contiguous();
    const at::Tensor likeliest = choice.targets.argmax(1).to(at::kCPU).contiguous();
    for (std::size_t i = 0; i < batch.slots.size(); ++i) {
      const std::uint32_t slot = batch.slots[i];
      const auto target = static_cast<std::int32_t>(likeliest.data_ptr<std::int64_t>()[i]);
      const bool is_chosen = chosen.data_ptr<float>()[i] > 0, is_own = target == context().samples().labels[slot];
      labelled_[slot] = is_chosen && is_own ? 1 : 0;
      guesses_[slot] = is_chosen && !is_own ? target : -1;
    }
  }

  Twins& twins_;
  std::vector<Head> pseudo_;
  double pseudo_scale_ = 1;
  std::vector<bool> trusted_;
  std::vector<std::int32_t> small_[2];  ///< of each network, 1: chosen by its loss
  std::vector<std::int32_t> labelled_, guesses_;
  at::Tensor bias_[2][2];  ///< pi of each network: of the chosen samples, and of the others
  double ramp_epochs_ = 0, tau_ = 0, debias_ = 0, share_ = 0;
  int expansion_ = 0;
};

/// Both networks learn the labels of the same batches, less the entropy of their predictions where they would get too
/// sure.
class ProMixWarmUp : public Phase {
 public:
  ProMixWarmUp(Context& context, Twins& twins) : Phase(context), twins_(twins) {}

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor logits = twins_[i].forward(batch.views.front()).logits;
      const auto losses = context().losses(logits, batch.labels);
      if (i == 0) context().record(batch, losses.plain, logits);
      at::Tensor loss = losses.trained.mean();
      if (context().settings().flag("confidence-penalty"))
        loss = loss + (at::softmax(logits, 1) * at::log_softmax(logits, 1)).sum(1).mean();
      sum += twins_[i].step(loss);
    }
    return sum;
  }

 private:
  Twins& twins_;
};

class ProMix : public Method {
 public:
  explicit ProMix(Context& context)
      : Method(context),
        warmup_(
            phase_epochs(context.settings(), "warmup-epochs", context.samples().classes < 100 ? 10 : 30, paper_epochs)),
        twins_(context),
        first_(context, twins_),
        main_(context, twins_) {}

  Phase& phase(int epoch) override {
    if (epoch < warmup_) return first_;
    return main_;
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::logits));
    return predictors;
  }

  std::span<const std::int32_t> labelled() const override { return main_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return main_.guesses(); }
  std::vector<Metric> metrics() const override { return main_.metrics(); }
  double batches_held() const override { return 6; }

  void collect(State& state) override {
    Method::collect(state);
    main_.collect(state);
  }

 private:
  int warmup_;
  Twins twins_;
  ProMixWarmUp first_;
  ProMixPhase main_;
};

}  // namespace

std::vector<std::int32_t> join_agreeing(std::span<const std::int32_t> chosen, std::span<const std::int32_t> sure,
                                        std::span<const float> scores, double most) {
  std::vector<std::int32_t> result(chosen.begin(), chosen.end());
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] == 0 && sure[i] == 1) candidates.push_back(i);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto wanted = static_cast<std::ptrdiff_t>(most * static_cast<double>(chosen.size()));
  const std::ptrdiff_t room = std::max<std::ptrdiff_t>(0, wanted - std::count(chosen.begin(), chosen.end(), 1));
  for (std::size_t i = 0; i < std::min(candidates.size(), static_cast<std::size_t>(room)); ++i)
    result[candidates[i]] = 1;
  return result;
}

MethodInfo promix_method() {
  constexpr std::string_view group = "ProMix";
  std::vector<SettingInfo> settings{
      {"warmup-epochs", group, std::int64_t{0},
       "Epochs of cross-entropy before; 0: 2 % of the run, 5 % with 100 classes or more", 0, 1e6},
      {"confidence-penalty", group, false,
       "In these epochs, subtract the entropy of the predictions from the loss; for asymmetric noise"},
      {"chosen-share", group, 0.0,
       "Share of an equal part of the samples that each class has chosen by small losses; 0: 0.7 where predictions "
       "show "
       "at most 30 % wrong labels, else 0.5",
       0, 1},
      {"confidence", group, 0.0,
       "A label, or a guess of both networks, is chosen where its probability is above; 0: 0.99, or 0.95 with 100 "
       "classes or more",
       0, 1},
      {"debias", group, -1.0,
       "Strength of debiasing: how much losses and guesses make up for classes that are predicted more often; -1: 0.8, "
       "or 0.5 with 100 classes or more",
       -1, 10},
      {"lambda-u", group, 0.1, "Weight of the loss of guesses for samples that are not chosen", 0, 1e4},
      {"temperature", group, 0.5, "Sharpening of these guesses; under 1 makes them more certain", 0.01, 10},
      {"ramp-epochs", group, std::int64_t{0},
       "Epochs in which the weight of strong views and mixtures rises, from the first on, and half of those in which "
       "lambda-u does; 0: 8 % of the run",
       0, 1e6},
      {"expand-epochs", group, std::int64_t{0},
       "Epochs at the end in which samples join that both networks are sure of; 0: 42 % of the run", 0, 1e6}};
  const auto views = strong_view_settings(3, 0.5);
  settings.insert(settings.end(), views.begin(), views.end());
  return {.name = "promix",
          .description = "ProMix: small losses and sure labels are chosen, ever more of them; two heads, two networks",
          .year = 2023,
          .paper = "ProMix: Combating Label Noise via Maximizing Clean Sample Utility",
          .settings = settings,
          .defaults = {{"epochs", std::int64_t{600}},
                       {"batch-size", std::int64_t{256}},
                       {"lr", 0.05},
                       {"min-lr", 5e-5},
                       {"ema", 0.0}},
          // A network of one epoch cannot tell right labels from wrong ones, and the losses of two heads and of as many
          // views and mixtures as they see add up to too long a step at the usual rate.
          .recipes = {{"fast", {{"warmup-epochs", std::int64_t{8}}, {"lr", 0.2}, {"min-lr", 0.02}}}},
          .needs_images = true,
          .networks = 2,
          .semi_supervised = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<ProMix>(context); }};
}

}  // namespace regroup
