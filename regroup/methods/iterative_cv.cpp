#include "regroup/methods/iterative_cv.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/co_teaching.h"
#include "regroup/methods/kept_network.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/twins.h"

namespace regroup {
namespace {

/// Four rounds of two trainings of 50 epochs, then Co-teaching for 200.
constexpr double paper_rounds = 4, paper_training = 50, paper_teaching = 200,
                 paper_epochs = 2 * paper_rounds * paper_training + paper_teaching;

enum Standing : std::int32_t { undecided = -1, removed = 0, selected = 1 };

/// Noisy cross-validation (Algorithm 2): a network that was trained on one half of the undecided samples, and on those
/// that are selected already, judges the other half. Then the halves change roles.
class SelectionPhase : public Phase {
 public:
  SelectionPhase(Context& context, Learner& learner)
      : Phase(context),
        learner_(learner),
        best_(context.make_network(), "selector"),
        training_epochs_(phase_epochs(context.settings(), "training-epochs", paper_training, paper_epochs)),
        rounds_(rounds_of(context.settings(), training_epochs_)),
        asymmetric_(context.settings().flag("asymmetric-noise")),
        standing_(context.samples().size(), undecided),
        next_(standing_),
        half_(standing_.size(), 0) {
    schedule_epochs = training_epochs_;
    rate_ = context.settings().number("noise-rate");
  }

  int epochs() const { return 2 * rounds_ * training_epochs_; }

  /// Each training has a schedule of its own.
  void enter(int epoch) { schedule_begin = epoch - epoch % training_epochs_; }

  void begin_epoch(int epoch) override {
    if (epoch != schedule_begin) return;
    const int training = epoch / training_epochs_;
    if (training % 2 == 0) split(training);
    learner_.restart("");
    best_.forget_score();
  }

  std::vector<Pass> passes(int epoch) const override {
    const int trained = epoch / training_epochs_ % 2;
    const auto is_trained = [&](std::uint32_t slot) {
      return standing_[slot] == selected || (next_[slot] == undecided && half_[slot] == trained);
    };
    std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    // Where an epoch draws few samples, it may have drawn none of these.
    if (std::ranges::any_of(slots, is_trained))
      std::erase_if(slots, [&](std::uint32_t slot) { return !is_trained(slot); });
    return {whole(context().plan(slots, epoch))};
  }

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    return learner_.step(losses.trained.mean());
  }

  /// The published steps are to .5, .25 and .1 of the rate.
  double rate(const Step& step) const override {
    const Settings& settings = context().settings();
    if (settings.text("schedule") != "steps") return Phase::rate(step);
    const double done = (step.time() - schedule_begin) / training_epochs_;
    return settings.number("lr") * (done < 0.4 ? 1 : done < 0.6 ? 0.5 : done < 0.8 ? 0.25 : 0.1);
  }

  void end_epoch(int epoch) override {
    const int training = epoch / training_epochs_, judged = 1 - training % 2;
    std::vector<std::uint32_t> slots;
    for (const std::uint32_t slot : context().epoch_slots(epoch))
      if (standing_[slot] == undecided && half_[slot] == judged) slots.push_back(slot);
    const bool last = (epoch + 1) % training_epochs_ == 0;
    if (!slots.empty()) {
      const bool by_best = training / 2 < rounds_by_best();
      const auto log_p_of = [&](Network& network) {
        return at::log_softmax(context().score({&network}, slots).front().logits, 1);
      };
      if (by_best) best_.offer(learner_.model(), share_right(log_p_of(learner_.model()), context().labels_of(slots)));
      if (last) judge(slots, log_p_of(by_best ? best_.network() : learner_.model()));
    }
    if (last && judged == 0) std::ranges::copy(next_, standing_.begin());
  }

  const std::vector<std::int32_t>& standing() const { return standing_; }
  double others() const { return asymmetric_ ? 1 : context().samples().classes - 1; }
  double noise_rate() const { return std::max(0.0, rate_); }
  bool is_hard() const { return asymmetric_ || rate_ > 0.6; }

  void collect(State& state) {
    best_.collect(state);
    state.add("standing", standing_, {undecided, selected});
    state.add("next-standing", next_, {undecided, selected});
    state.add("half", half_, {0, 1});
    state.add("noise-rate", rate_, {-1, 1});
  }

 private:
  /// As many as were asked for; fewer in a run that is so short that they would take more than the paper's share of it.
  static int rounds_of(const Settings& settings, int training_epochs) {
    constexpr double share = 2 * paper_rounds * paper_training / paper_epochs;
    const auto most = static_cast<int>(share * static_cast<double>(settings.integer("epochs")) / (2 * training_epochs));
    return std::clamp(static_cast<int>(settings.integer("rounds")), 1, std::max(1, most));
  }

  /// Halves of the undecided samples, at random.
  void split(int training) {
    std::ranges::copy(standing_, next_.begin());
    for (const std::uint32_t slot : context().samples().trusted) standing_[slot] = next_[slot] = selected;
    std::vector<std::uint32_t> slots;
    for (const std::uint32_t slot : context().all_slots())
      if (standing_[slot] == undecided) slots.push_back(slot);
    Stream random(context().seed(), Purpose::split, static_cast<std::uint32_t>(training), 1U << 20);
    const auto order = permutation(random, static_cast<std::int64_t>(slots.size()));
    for (std::size_t i = 0; i < order.size(); ++i) half_[slots[static_cast<std::size_t>(order[i])]] = i % 2;
  }

  /// Labels that are predicted are selected; of the others those with the largest losses are removed for good. The
  /// first half that is judged also tells the noise rate, where that is not given.
  void judge(std::span<const std::uint32_t> slots, const at::Tensor& log_p) {
    context().record(slots, log_p);
    std::vector<std::uint32_t> rejected;
    for (const std::uint32_t slot : slots) {
      if (context().predicted()[slot] == context().samples().labels[slot]) {
        next_[slot] = selected;
      } else {
        rejected.push_back(slot);
      }
    }
    const std::size_t agreeing = slots.size() - rejected.size();
    if (rate_ < 0)
      rate_ = rate_of_agreement(static_cast<double>(agreeing) / static_cast<double>(slots.size()), others());
    std::ranges::stable_sort(rejected, [&](std::uint32_t a, std::uint32_t b) {
      return context().book().losses()[a] > context().book().losses()[b];
    });
    const double most = removal_ratio(rate_, asymmetric_) * static_cast<double>(agreeing);
    rejected.resize(std::min(rejected.size(), static_cast<std::size_t>(most)));
    for (const std::uint32_t slot : rejected) next_[slot] = removed;
  }

  /// In the first rounds, the more the less noise there is, the best epoch by the labels of the judged half is the one
  /// that judges; later the last one.
  int rounds_by_best() const { return rate_ < 0 || is_hard() ? 1 : rate_ > 0.3 ? 2 : 4; }

  Learner& learner_;
  KeptNetwork best_;
  int training_epochs_, rounds_;
  bool asymmetric_;
  std::vector<std::int32_t> standing_, next_, half_;
  double rate_ = -1;  ///< of wrong labels; -1: not known yet
};

/// Co-teaching of two fresh networks on the selected samples, which undecided ones join later.
class TeachingPhase : public Phase {
 public:
  TeachingPhase(Context& context, Twins& twins, const SelectionPhase& selection)
      : Phase(context), twins_(twins), selection_(selection) {
    schedule_begin = selection.epochs();
    length_ = std::max(1.0, static_cast<double>(context.settings().integer("epochs")) - selection.epochs());
  }

  std::vector<Pass> passes(int epoch) const override {
    std::vector<std::uint32_t> chosen, others;
    const std::vector<std::uint32_t> drawn = context().epoch_slots(epoch);
    for (const std::uint32_t slot : drawn) {
      const std::int32_t standing = selection_.standing()[slot];
      if (standing == selected) chosen.push_back(slot);
      if (standing == undecided) others.push_back(slot);
    }
    if (chosen.empty()) return {whole(context().plan_epoch(epoch))};
    Pass pass = whole(context().plan(chosen, epoch));
    const double from = (selection_.is_hard() ? 80 : 40) / paper_teaching;
    if ((epoch - schedule_begin) / length_ >= from && others.size() > 1) {
      pass.plans.push_back(context().plan(others, epoch, 1));
      pass.plans.back().batch_size =
          std::min(static_cast<int>(others.size()), std::max(1, pass.plans.front().batch_size / 2));
    }
    return {pass};
  }

  /// As many samples are kept as of the selected ones alone.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    TensorBatch batch = batches.front();
    const std::size_t kept = kept_of(batch.slots.size(), step.epoch);
    if (batches.size() > 1) {
      const TensorBatch& more = batches[1];
      batch.slots.insert(batch.slots.end(), more.slots.begin(), more.slots.end());
      batch.views.front() = at::cat({batch.views.front(), more.views.front()});
      batch.labels = at::cat({batch.labels, more.labels});
    }
    Context::Losses losses[2];
    at::Tensor picked[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor logits = twins_[i].forward(batch.views.front()).logits;
      losses[i] = context().losses(logits, batch.labels);
      if (i == 0) context().record(batch, losses[i].plain, logits);
      const at::Tensor plain = losses[i].plain.detach().to(at::kCPU, at::kFloat).contiguous();
      std::vector<std::int64_t> order = smallest({plain.data_ptr<float>(), batch.slots.size()}, 0);
      order.resize(kept);
      picked[i] = at::tensor(order, at::kLong).to(batch.labels.device());
    }
    double mean = 0;
    for (std::size_t i = 0; i < 2; ++i)
      mean += twins_[i].step(losses[i].trained.index_select(0, picked[1 - i]).mean()) / 2;
    return mean;
  }

  /// 1 - e' min(1, t / 10), e' being the share of wrong labels among the selected ones.
  double kept_share(int epoch) const {
    const double rising = std::max(1.0, length_ * 10 / paper_teaching);
    return 1 - rate_among_selected(selection_.noise_rate(), selection_.others()) *
                   std::clamp((epoch - schedule_begin) / rising, 0.0, 1.0);
  }

 private:
  std::size_t kept_of(std::size_t batch, int epoch) const {
    return std::max<std::size_t>(1, static_cast<std::size_t>(kept_share(epoch) * static_cast<double>(batch)));
  }

  Twins& twins_;
  const SelectionPhase& selection_;
  double length_;  ///< epochs of this phase
};

class IterativeCv : public Method {
 public:
  explicit IterativeCv(Context& context)
      : Method(context), twins_(context), selection_(context, twins_[0]), teaching_(context, twins_, selection_) {
    if (context.settings().text("init-weights").empty()) return;
    for (Learner* learner : twins_.all()) learner->keep_start();
  }

  void begin_epoch(int epoch) override {
    if (epoch != selection_.epochs()) return;
    for (Learner* learner : twins_.all()) learner->restart("");
  }

  Phase& phase(int epoch) override {
    if (epoch >= selection_.epochs()) return teaching_;
    selection_.enter(epoch);
    return selection_;
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::probabilities));
    return predictors;
  }

  std::span<const std::int32_t> labelled() const override { return selection_.standing(); }
  double batches_held() const override { return 3; }

  std::vector<Metric> metrics() const override {
    const auto count = [&](Standing standing) {
      return static_cast<double>(std::ranges::count(selection_.standing(), standing));
    };
    return {{"selected", count(selected)}, {"removed", count(removed)}, {"noise_rate", selection_.noise_rate()}};
  }

  void collect(State& state) override {
    Method::collect(state);
    selection_.collect(state);
  }

 private:
  Twins twins_;
  SelectionPhase selection_;
  TeachingPhase teaching_;
};

}  // namespace

double rate_of_agreement(double agreement, double others) {
  // k e^2 - 2 e + 1 - agreement = 0 with k = 1 + 1 / others. Less agreement than by chance has no solution.
  const double k = 1 + 1 / others, rest = 1 - k * (1 - agreement);
  return (1 - std::sqrt(std::max(0.0, rest))) / k;
}

double rate_among_selected(double rate, double others) {
  const double wrong = rate * rate, right = others * (1 - rate) * (1 - rate);
  return wrong + right > 0 ? wrong / (wrong + right) : 0;
}

double removal_ratio(double rate, bool asymmetric) {
  if (asymmetric) return 0;
  return rate < 1 ? std::min(2.0, rate / (1 - rate)) : 2;
}

MethodInfo iterative_cv_method() {
  constexpr std::string_view group = "Iterative-CV";
  return {
      .name = "iterative-cv",
      .description =
          "Iterative-CV (INCV): networks judge the labels that they were not trained on, then Co-teaching "
          "on those that they predict",
      .year = 2019,
      .paper = "Understanding and Utilizing Deep Neural Networks Trained with Noisy Labels",
      .settings = {{"rounds", group, std::int64_t{4}, "Rounds of cross-validation, of two trainings each", 1, 100},
                   {"training-epochs", group, std::int64_t{0},
                    "Epochs of each of these trainings; 0: 8.3 % of the run, so that four rounds take two thirds of it",
                    0, 1e6},
                   {"noise-rate", group, -1.0,
                    "Share of wrong labels; -1: estimated from the first half that is judged", -1, 1},
                   {"asymmetric-noise", group, false,
                    "Wrong labels of a class go to one other class; then no sample is removed for its loss"}},
      .defaults = {{"epochs", std::int64_t{600}},
                   {"optimizer", std::string("adam")},
                   {"lr", 1e-3},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.4, 0.6, 0.8")},
                   {"weight-decay", 0.0},
                   {"ema", 0.0}},
      // A network of one epoch cannot tell right labels from wrong ones: one round of two longer trainings.
      .recipes = {{"fast", {{"rounds", std::int64_t{1}}, {"training-epochs", std::int64_t{4}}}}},
      .networks = 2,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<IterativeCv>(context); }};
}

}  // namespace regroup
