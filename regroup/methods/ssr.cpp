#include "regroup/methods/ssr.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "regroup/methods/heads.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/neighbours.h"
#include "regroup/methods/strong_views.h"

namespace regroup {
namespace {

constexpr std::int64_t hidden = 256, embedding = 128;
/// From so many wrong labels on, and with so many classes, the paper gives new labels sooner.
constexpr int many_classes = 100;
constexpr double much_noise = 0.5, threshold = 0.9, lower_threshold = 0.8;

class Ssr : public Method {
 public:
  explicit Ssr(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        project_(context, *learner_, "projection", feature_size(learner_->model()), hidden, embedding, 0),
        predict_(context, *learner_, "prediction", embedding, hidden, embedding, 2),
        trusted_(context.samples().is_trusted()),
        clean_(context.samples().size(), -1),
        relabelled_(context.samples().size(), -1),
        labelled_(context.samples().size(), -1) {}

  /// Sample relabelling, then sample selection.
  void begin_epoch(int epoch) override {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const Scores scores = context().score_view(learner_->model(), slots, epoch);
    const at::Tensor log_p = at::log_softmax(scores.logits, 1);
    context().record(slots, log_p);
    relabel_above_ = relabel_threshold(epoch);
    const auto labels = relabel(slots, log_p.exp());

    const TrainingSet& samples = context().samples();
    const at::Tensor nearest =
        nearest_rows(scores.features, context().settings().integer("neighbours"), Itself::is_a_neighbour);
    const at::Tensor votes = neighbour_votes(nearest, at::tensor(labels, at::kInt).to(at::kLong), samples.classes);
    const auto clean = select_by_votes(votes, labels, context().settings().number("selection-threshold"));
    std::fill(clean_.begin(), clean_.end(), -1);
    for (std::size_t i = 0; i < slots.size(); ++i) clean_[slots[i]] = trusted_[slots[i]] ? 1 : clean[i];
    // Where nothing is selected there is nothing else to learn from.
    if (std::count(clean_.begin(), clean_.end(), 1) == 0)
      for (const std::uint32_t slot : slots) clean_[slot] = 1;
    for (std::size_t slot = 0; slot < labelled_.size(); ++slot)
      labelled_[slot] = clean_[slot] == 1 && relabelled_[slot] >= 0 ? 0 : clean_[slot];
  }

  /// Two plans: the selected samples, two strong views each, and all samples, a weak view and a strong one.
  std::vector<Pass> passes(int epoch) const override {
    std::vector<std::uint32_t> selected;
    std::vector<std::int32_t> labels;
    for (std::size_t slot = 0; slot < clean_.size(); ++slot) {
      if (clean_[slot] != 1) continue;
      selected.push_back(static_cast<std::uint32_t>(slot));
      labels.push_back(label_of(slot));
    }
    Pass pass;
    pass.plans = {context().plan(oversampled(selected, labels, context().samples().classes), epoch, 1),
                  context().plan_epoch(epoch)};
    const Augmentation weak = pass.plans[1].views.front(), strong = strong_view(context().settings(), weak);
    pass.plans[0].views = {strong, strong};
    pass.plans[1].views = {weak, strong};
    pass.steps = pass.plans[1].batches();
    return {pass};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const Settings& settings = context().settings();
    const TensorBatch& clean = batches[0];
    Stream random = mixing_stream(context().seed(), step);
    const at::Tensor targets = targets_of(clean).repeat({2, 1});
    const MixedView mix = mix_view(at::cat(clean.views), settings.number("mix-alpha"), random);
    const at::Tensor logits = learner_->forward(mix.images).logits;
    at::Tensor loss = soft_cross_entropy(logits, mixed(targets, mix.partners, mix.share)).mean();
    const double weight = settings.number("lambda-c");
    if (weight > 0) loss = loss + weight * inconsistency(batches[1]);
    return learner_->step(loss);
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return labelled_; }
  std::span<const std::int32_t> guesses() const override { return relabelled_; }
  double batches_held() const override { return 3; }

  std::vector<Metric> metrics() const override {
    const auto relabelled =
        std::count_if(relabelled_.begin(), relabelled_.end(), [](std::int32_t l) { return l >= 0; });
    return {{"selected", static_cast<double>(std::count(clean_.begin(), clean_.end(), 1))},
            {"relabelled", static_cast<double>(relabelled)},
            {"relabel_threshold", relabel_above_}};
  }

  void collect(State& state) override {
    Method::collect(state);
    state.add("selected", clean_, {-1, 1});
    state.add("relabelled", relabelled_, {-1, context().samples().classes - 1.0});
    state.add("labelled", labelled_, {-1, 1});
    state.add("relabel_threshold", relabel_above_, {0, 1});
  }

 private:
  /// The share of wrong labels, which decides about it in the paper, is that of the epoch before as predictions show
  /// it.
  double relabel_threshold(int epoch) const {
    const double given = context().settings().number("relabel-threshold");
    if (given > 0) return given;
    if (context().samples().classes < many_classes || epoch == 0) return threshold;
    const auto rate = static_cast<double>(context().noise_rates()[static_cast<std::size_t>(epoch) - 1]);
    return rate >= much_noise ? lower_threshold : threshold;
  }

  /// The label of each sample in this epoch: the likeliest class where that is likely enough, its own otherwise.
  std::vector<std::int32_t> relabel(std::span<const std::uint32_t> slots, const at::Tensor& probabilities) {
    const auto [most, likeliest] = probabilities.max(1);
    std::vector<std::int32_t> labels;
    std::fill(relabelled_.begin(), relabelled_.end(), -1);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint32_t slot = slots[i];
      const auto guess = static_cast<std::int32_t>(likeliest.data_ptr<std::int64_t>()[i]);
      const bool sure = static_cast<double>(most.data_ptr<float>()[i]) > relabel_above_;
      if (sure && !trusted_[slot] && guess != context().samples().labels[slot]) relabelled_[slot] = guess;
      labels.push_back(label_of(slot));
    }
    return labels;
  }

  std::int32_t label_of(std::size_t slot) const {
    return relabelled_[slot] >= 0 ? relabelled_[slot] : context().samples().labels[slot];
  }

  at::Tensor targets_of(const TensorBatch& batch) const {
    std::vector<std::int32_t> labels;
    for (const std::uint32_t slot : batch.slots) labels.push_back(label_of(slot));
    const at::Tensor rows = at::tensor(labels, at::kInt).to(batch.labels.device(), at::kLong);
    return smoothed(one_hot_rows(rows, context().samples().classes), context().settings().number("label-smoothing"));
  }

  /// Feature consistency: the negative cosine of h(f(strong view)) and f(weak view), which gets no gradient.
  at::Tensor inconsistency(const TensorBatch& batch) {
    const auto projected = [&](const at::Tensor& view) { return project_(learner_->forward(view).features); };
    at::Tensor goal;
    {
      const at::NoGradGuard no_grad;
      goal = unit_rows(projected(batch.views[0]));
    }
    return -(unit_rows(predict_(projected(batch.views[1]))) * goal).sum(1).mean();
  }

  std::unique_ptr<Learner> learner_;
  TwoLayerHead project_, predict_;
  std::vector<bool> trusted_;
  std::vector<std::int32_t> clean_, relabelled_, labelled_;
  double relabel_above_ = threshold;
};

}  // namespace

std::vector<std::int32_t> select_by_votes(const at::Tensor& votes, std::span<const std::int32_t> labels, double least) {
  const auto classes = static_cast<std::size_t>(votes.size(1));
  std::vector<float> counts(classes, 1e-10F);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  const at::Tensor shares = (votes / at::tensor(counts).unsqueeze(0)).contiguous();
  std::vector<std::int32_t> selected;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span row(shares.data_ptr<float>() + i * classes, classes);
    const float own = row[static_cast<std::size_t>(labels[i])];
    selected.push_back(own >= static_cast<float>(least) * *std::max_element(row.begin(), row.end()) ? 1 : 0);
  }
  return selected;
}

std::vector<std::uint32_t> oversampled(std::span<const std::uint32_t> slots, std::span<const std::int32_t> labels,
                                       int classes) {
  std::vector<std::vector<std::uint32_t>> members(static_cast<std::size_t>(classes));
  std::size_t most = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& member = members[static_cast<std::size_t>(labels[i])];
    member.push_back(slots[i]);
    most = std::max(most, member.size());
  }
  std::vector<std::uint32_t> result;
  for (const auto& member : members)
    for (std::size_t i = 0; i < most && !member.empty(); ++i) result.push_back(member[i % member.size()]);
  return result;
}

MethodInfo ssr_method() {
  constexpr std::string_view group = "SSR";
  std::vector<SettingInfo> settings{
      {"relabel-threshold", group, 0.0,
       "Probability above which the likeliest class becomes a sample's label; 0: 0.9, or 0.8 with 100 classes or more "
       "while half of the labels seem wrong",
       0, 1},
      {"selection-threshold", group, 1.0,
       "A label is right if it has at least this share of the votes that the likeliest class has among its neighbours",
       0, 1},
      {"neighbours", group, std::int64_t{200}, "Neighbours that vote, the sample among them", 1, 1e6},
      {"lambda-c", group, 1.0, "Weight of the consistency of features of two views; 0: SSR without it, 1: SSR+", 0,
       1e4},
      {"mix-alpha", group, 4.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}};
  // In place of AutoAugment, whose policies apply two operations.
  const auto views = strong_view_settings(2, 0.3);
  settings.insert(settings.end(), views.begin(), views.end());
  const std::pair<std::string_view, SettingValue> no_smoothing{"label-smoothing", 0.0};
  return {.name = "ssr",
          .description = "SSR+: sure predictions become labels, neighbours vote which labels to learn from",
          .year = 2022,
          .paper = "SSR: An Efficient and Robust Framework for Learning with Unknown Label Noise",
          .settings = settings,
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{300}},
                       {"lr", 0.02},
                       {"min-lr", 4e-4},
                       {"ema", 0.0}},
          // Nobody is as sure as the threshold asks for of labels that are smoothed.
          .recipes = {{"fast", {no_smoothing}}, {"photos", {no_smoothing}}, {"finetune", {no_smoothing}}},
          .needs_images = true,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Ssr>(context); }};
}

}  // namespace regroup
