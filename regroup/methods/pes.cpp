#include "regroup/methods/pes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "regroup/methods/mixmatch.h"
#include "regroup/methods/refinement.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr int views = 2;

constexpr double paper_epochs = 200;

/// Training on the samples whose label the network predicts, by the mean over two augmented views. The published
/// code leaves the renewed layers out of its optimizer, so that they stay as they were refined; the paper trains all.
class ConfidentPhase : public Phase {
 public:
  ConfidentPhase(Context& context, Learner& learner)
      : Phase(context), learner_(learner), labelled_(context.samples().size(), -1) {}

  void begin_epoch(int epoch) override {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const Context::Agreement agreement = context().agreement({&learner_.model()}, slots, epoch, views);
    mark_agreeing(agreement.agrees, slots, context(), labelled_);
    // Where no label agrees there is nothing else to learn from.
    if (count() == 0)
      for (const std::uint32_t slot : slots) labelled_[slot] = 1;
    context().record(slots, agreement.probabilities.clamp_min(1e-12).log());
    class_weights_ = at::Tensor();
  }

  std::vector<Pass> passes(int epoch) const override {
    std::vector<std::uint32_t> slots;
    for (std::size_t slot = 0; slot < labelled_.size(); ++slot)
      if (labelled_[slot] == 1) slots.push_back(static_cast<std::uint32_t>(slot));
    return {whole(context().plan(slots, epoch))};
  }

  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    if (!class_weights_.defined()) {
      const TrainingSet& samples = context().samples();
      constexpr float unbounded = std::numeric_limits<float>::max();
      class_weights_ =
          at::tensor(class_weights(samples.labels, labelled_, samples.classes, unbounded)).to(batch.labels.device());
    }
    const at::Tensor logits = learner_.forward(batch.views.front()).logits;
    const at::Tensor weights = class_weights_.index_select(0, batch.labels);
    return learner_.step((context().losses(logits, batch.labels).trained * weights).sum() / weights.sum());
  }

  std::span<const std::int32_t> labelled() const { return labelled_; }
  std::size_t count() const { return static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 1)); }
  void collect(State& state) { state.add("labelled", labelled_, {-1, 1}); }

 private:
  Learner& learner_;
  std::vector<std::int32_t> labelled_;
  at::Tensor class_weights_;  ///< follows from labelled_
};

class Pes : public Method {
 public:
  explicit Pes(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        early_epochs_(
            phase_epochs(context.settings(), "early-epochs", context.samples().classes < 100 ? 25 : 30, paper_epochs)),
        early_(context, *learner_),
        refinement_(
            context, *learner_,
            {{.last_parts = 2, .passes = phase_epochs(context.settings(), "block-epochs", 7, paper_epochs)},
             {.last_parts = 1, .passes = phase_epochs(context.settings(), "classifier-epochs", 5, paper_epochs)}}),
        confident_(context, *learner_) {}

  /// Only the refinement, pass by pass, leaves layers as they are.
  void begin_epoch(int /*epoch*/) override {
    learner_->freeze("", false);
    learner_->use("main");
  }

  Phase& phase(int epoch) override {
    if (epoch < early_epochs_) return early_;
    if (epoch == early_epochs_) return refinement_;
    return confident_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return confident_.labelled(); }
  std::vector<Metric> metrics() const override {
    const bool decided = std::ranges::any_of(confident_.labelled(), [](std::int32_t known) { return known >= 0; });
    const auto count = static_cast<double>(confident_.count());
    return {{"labelled", decided ? count : std::numeric_limits<double>::quiet_NaN()}};
  }

  void collect(State& state) override {
    Method::collect(state);
    confident_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  int early_epochs_;
  EarlyPhase early_;
  RefinementPhase refinement_;
  ConfidentPhase confident_;
};

}  // namespace

MethodInfo pes_method() {
  constexpr std::string_view group = "PES";
  return {
      .name = "pes",
      .description =
          "PES: the later a part of the network, the sooner its training stops; then only labels that it agrees with",
      .year = 2021,
      .paper = "Understanding and Improving Early Stopping for Learning with Noisy Labels",
      .settings =
          {{"early-epochs", group, std::int64_t{0},
            "Epochs of cross-entropy before the refinement; 0: 12.5 % of the run, 15 % with 100 classes or more", 0,
            1e6},
           {"block-epochs", group, std::int64_t{0},
            "Passes over the data that train the last block and the classifier anew; 0: 3.5 % of the run's epochs", 0,
            1000},
           {"classifier-epochs", group, std::int64_t{0},
            "Passes over the data that then train the classifier anew; 0: 2.5 % of the run's epochs", 0, 1000},
           {"refine-lr", group, 1e-4, "Learning rate of Adam in these passes", 1e-12, 10}},
      .defaults = {{"schedule", std::string("steps")}, {"weight-decay", 1e-4}, {"ema", 0.0}},
      // So few steps at the published rate teach a new layer nothing, and while the rate is high the renewed network
      // loses what it was refined to: it is refined later, and faster.
      .recipes = {{"fast",
                   {{"early-epochs", std::int64_t{10}},
                    {"block-epochs", std::int64_t{3}},
                    {"classifier-epochs", std::int64_t{2}},
                    {"refine-lr", 3e-3}}}},
      .needs_images = true,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Pes>(context); }};
}

}  // namespace regroup
