#include "regroup/methods/moit.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>

#include "regroup/methods/contrastive.h"
#include "regroup/methods/fine_tuning.h"
#include "regroup/methods/heads.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/neighbours.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 250, paper_memory_start = 3, paper_correction_start = 130, median = 0.5;
constexpr std::int64_t embedding = 128;
/// The memory has so many views of each class, and comes to a hundred samples of two.
constexpr std::int64_t remembered_per_class = 200;
constexpr double temperature = 0.1;

class MoitPhase : public Phase {
 public:
  MoitPhase(Context& context, Learner& learner, int epochs)
      : Phase(context),
        learner_(learner),
        head_(context, learner, "projection", feature_size(learner.model()), embedding, 0),
        memory_start_(phase_epochs(context.settings(), "memory-epochs", paper_memory_start, paper_epochs, epochs)),
        correction_start_(
            phase_epochs(context.settings(), "correction-epochs", paper_correction_start, paper_epochs, epochs)),
        selected_(context.samples().size(), -1),
        guesses_(context.samples().size(), -1),
        memory_(remembered_per_class * context.samples().classes, embedding, context.device()) {
    schedule_epochs = epochs;
  }

  /// Which labels are right, by the neighbours among the embeddings of the images as they are.
  void detect(int epoch) {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const TrainingSet& samples = context().samples();
    const Scores scores = context().score({&learner_.model()}, slots, Wanted::features_too).front();
    context().record(slots, at::log_softmax(scores.logits, 1));
    const at::NoGradGuard no_grad;
    const at::Tensor nearest = nearest_rows(head_(scores.features.to(context().device())),
                                            context().settings().integer("neighbours"), Itself::is_none);
    const std::vector<std::int32_t> labels = context().labels_of(slots);
    const at::Tensor observed = at::tensor(labels, at::kInt).to(nearest.device(), at::kLong);
    const at::Tensor votes = corrected_votes(nearest, observed, samples.classes);
    const auto selected = select_balanced(votes, labels, median);
    std::fill(selected_.begin(), selected_.end(), -1);
    for (std::size_t i = 0; i < slots.size(); ++i) selected_[slots[i]] = selected[i];
    for (const std::uint32_t slot : samples.trusted)
      if (selected_[slot] == 0) selected_[slot] = 1;
    std::fill(guesses_.begin(), guesses_.end(), -1);
    if (epoch < correction_start_) return;
    for (const std::uint32_t slot : slots)
      if (selected_[slot] == 0) guesses_[slot] = context().predicted()[slot];
  }

  /// Two strong views, and the image as it is.
  std::vector<Pass> passes(int epoch) const override {
    BatchPlan plan = context().plan_epoch(epoch);
    plan.views = contrastive_views(plan.views.front(), context().samples().source->shape().channels == 3,
                                   context().settings().number("view-jitter"));
    plan.views.push_back(no_augmentation);
    return {whole(std::move(plan))};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    Stream random = mixing_stream(context().seed(), step);
    const double alpha = context().settings().number("mix-alpha");
    const MixedView mixes[2] = {mix_view(batch.views[0], alpha, random), mix_view(batch.views[1], alpha, random)};
    const Scores scores[2] = {learner_.forward(mixes[0].images), learner_.forward(mixes[1].images)};
    // What is said about mixtures, until there is a network to score the images as they are with.
    if (step.epoch == 0)
      context().record(batch, context().losses(scores[0].logits, batch.labels).plain, scores[0].logits);
    const at::Tensor contrast = contrastive_loss(step.epoch, batch, mixes, scores);
    return learner_.step(contrast + classification_loss(step.epoch, batch, mixes, scores));
  }

  std::span<const std::int32_t> selected() const { return selected_; }
  std::span<const std::int32_t> guesses() const { return guesses_; }

  void collect(State& state) {
    state.add("selected", selected_, {-1, 1});
    state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
    memory_.collect(state, "memory.", context().samples().size());
  }

 private:
  /// Interpolated contrastive learning: a mixture belongs to the images of its larger part's class with that part's
  /// share, and to those of its partner's class with the rest. The same once more with the memory of the last steps.
  at::Tensor contrastive_loss(int epoch, const TensorBatch& batch, const MixedView (&mixes)[2],
                              const Scores (&scores)[2]) {
    const at::Tensor embedded = unit_rows(head_(at::cat({scores[0].features, scores[1].features})));
    const std::int64_t rows = batch.labels.size(0);
    const at::Tensor own = batch.labels.repeat({2});
    const at::Tensor partners =
        at::cat({batch.labels.index_select(0, mixes[0].partners), batch.labels.index_select(0, mixes[1].partners)});
    const at::Tensor shares =
        at::cat({at::full({rows}, mixes[0].share), at::full({rows}, mixes[1].share)}).to(embedded.device(), at::kFloat);
    const auto same = [](const at::Tensor& a, const at::Tensor& b) {
      return (a.unsqueeze(1) == b.unsqueeze(0)).to(at::kFloat);
    };
    const at::Tensor others = others_mask(2 * rows, embedded);
    at::Tensor loss = interpolated_losses(at::matmul(embedded, embedded.t()), same(own, own) * others,
                                          same(partners, own) * others, others, shares, temperature)
                          .mean();
    if (epoch >= memory_start_ && memory_.slots().size(0) > 0) {
      const at::Tensor labels = context().labels().index_select(0, memory_.slots());
      const at::Tensor similarities = at::matmul(embedded, memory_.rows().t());
      loss = loss + interpolated_losses(similarities, same(own, labels), same(partners, labels),
                                        at::ones_like(similarities), shares, temperature)
                        .mean();
    }
    memory_.push(embedded, slots_of(batch).repeat({2}));
    return loss;
  }

  /// Cross-entropy with mixed labels; later the label of a sample that is not selected is what the network says about
  /// the image as it is. In the published code the mark of an image also decides about its partner's label; here, as in
  /// the paper, each has its own.
  at::Tensor classification_loss(int epoch, const TensorBatch& batch, const MixedView (&mixes)[2],
                                 const Scores (&scores)[2]) {
    at::Tensor targets = smoothed(one_hot_rows(batch.labels, context().samples().classes),
                                  context().settings().number("label-smoothing"));
    if (epoch >= correction_start_) {
      std::vector<float> marks;
      for (const std::uint32_t slot : batch.slots) marks.push_back(selected_[slot] == 1 ? 1.0F : 0.0F);
      const at::Tensor keeps = at::tensor(marks).to(targets.device()).unsqueeze(1);
      const at::NoGradGuard no_grad;
      const at::Tensor said = at::softmax(learner_.forward(batch.views[2]).logits.to(at::kFloat), 1);
      targets = targets * keeps + said * (1 - keeps);
    }
    const auto loss = [&](std::size_t view) {
      return soft_cross_entropy(scores[view].logits, mixed(targets, mixes[view].partners, mixes[view].share)).mean();
    };
    return (loss(0) + loss(1)) / 2;
  }

  Learner& learner_;
  Head head_;
  int memory_start_, correction_start_;
  std::vector<std::int32_t> selected_, guesses_;
  EmbeddingMemory memory_;
};

class Moit : public Method {
 public:
  explicit Moit(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        main_epochs_(static_cast<int>(std::max<std::int64_t>(
            1, context.settings().integer("epochs") - context.settings().integer("finetune-epochs")))),
        main_(context, *learner_, main_epochs_),
        last_(context, *learner_, main_epochs_, main_.selected()) {}

  Phase& phase(int epoch) override {
    if (epoch < main_epochs_) return main_;
    return last_;
  }

  /// The fine-tuning keeps to the last selection, unless its epochs have other samples.
  void begin_epoch(int epoch) override {
    if (epoch > 0 && (epoch <= main_epochs_ || context().draws_epochs())) main_.detect(epoch);
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return main_.selected(); }
  std::span<const std::int32_t> guesses() const override { return main_.guesses(); }
  double batches_held() const override { return 2; }

  std::vector<Metric> metrics() const override {
    const auto selected = main_.selected();
    const bool decided = std::ranges::any_of(selected, [](std::int32_t mark) { return mark >= 0; });
    const auto count = static_cast<double>(std::count(selected.begin(), selected.end(), 1));
    return {{"labelled", decided ? count : std::numeric_limits<double>::quiet_NaN()}};
  }

  void collect(State& state) override {
    Method::collect(state);
    main_.collect(state);
  }

 private:
  std::unique_ptr<Learner> learner_;
  int main_epochs_;
  MoitPhase main_;
  FineTuningPhase last_;
};

}  // namespace

MethodInfo moit_method() {
  constexpr std::string_view group = "MOIT";
  return {.name = "moit",
          .description = "MOIT: contrastive learning with mixed images; neighbours vote which labels are right",
          .year = 2021,
          .paper = "Multi-Objective Interpolation Training for Robustness to Label Noise",
          .settings =
              {{"memory-epochs", group, std::int64_t{0},
                "Epochs before images are compared with those of the last steps; 0: 1.2 % of the run", 0, 1e6},
               {"correction-epochs", group, std::int64_t{0},
                "Epochs before predictions take the place of labels that are not selected; 0: 52 % of the run", 0, 1e6},
               {"finetune-epochs", group, std::int64_t{0},
                "Epochs at the end that train a new classifier on the selected labels alone: MOIT+, 70 of 320 in the "
                "paper; 0: none",
                0, 1e6},
               fine_tuning_rate(group),
               {"neighbours", group, std::int64_t{250}, "Neighbours that vote", 1, 1e6},
               {"view-jitter", group, 0.4, "Colour jitter of the views that are compared", 0, 1},
               {"mix-alpha", group, 1.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}},
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{250}},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.5, 0.8")},
                       {"weight-decay", 1e-4},
                       {"ema", 0.0}},
          // Its losses add up to too long a step at the usual rate.
          .recipes = {{"fast", {{"lr", 0.2}, {"min-lr", 0.02}}}},
          .needs_images = true,
          .semi_supervised = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Moit>(context); }};
}

}  // namespace regroup
