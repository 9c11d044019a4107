#include "regroup/methods/sel_cl.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/contrastive.h"
#include "regroup/methods/fine_tuning.h"
#include "regroup/methods/heads.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/neighbours.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

/// The fine-tuning of Sel-CL+ comes after the 250 epochs.
constexpr double paper_epochs = 250, paper_tuning = 70, paper_warmup = 1, paper_memory_start = 3;
constexpr std::int64_t embedding = 128, keys = 10000;
/// The memory has so many views of each class.
constexpr std::int64_t remembered_per_class = 200;
constexpr double temperature = 0.1, most_similarity_gradient = 0.25;

/// Two mixed views of a batch, and what is computed of both of them together: rows of the first view, then of the
/// other.
struct Mixtures {
  MixedView views[2];
  at::Tensor embedded, probabilities, shares;
};

/// Which others each mixture belongs to by its larger part, and by its partner: 1 or 0. `labelled` is without those
/// that are other views of the same image.
struct Pairs {
  at::Tensor own, of_partner, labelled;
};

class SelClPhase : public Phase {
 public:
  SelClPhase(Context& context, Learner& learner, int epochs)
      : Phase(context),
        learner_(learner),
        head_(context, learner, "projection", feature_size(learner.model()), embedding, 0),
        warmup_(phase_epochs(context.settings(), "warmup-epochs", paper_warmup, paper_epochs, epochs)),
        memory_start_(phase_epochs(context.settings(), "memory-epochs", paper_memory_start, paper_epochs, epochs)),
        selected_(context.samples().size(), -1),
        rows_(at::zeros({static_cast<std::int64_t>(context.samples().size()), embedding},
                        at::TensorOptions(context.device()).dtype(at::kFloat))),
        marks_(at::zeros({rows_.size(0)}, rows_.options())),
        queue_(keys, embedding, context.device()),
        memory_(remembered_per_class * context.samples().classes, embedding + context.samples().classes,
                context.device()),
        sums_(3) {
    schedule_epochs = epochs;
    const bool few = context.samples().classes < 100;
    alpha_ = chosen(context.settings().number("class-quantile"), few ? 0.5 : 0.75);
    beta_ = chosen(context.settings().number("pair-quantile"), few ? 0.25 : 0.35);
  }

  /// Which labels are right, and which pairs belong together: confident samples by their neighbours' votes, then pairs
  /// by how near confident samples of one label are to each other.
  void select(int epoch) {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    if (epoch < warmup_) return;
    const at::NoGradGuard no_grad;
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    const TrainingSet& samples = context().samples();
    const Scores scores = context().score({&learner_.model()}, slots, Wanted::features_too).front();
    // Unless labels took part, the classifier has learnt nothing yet.
    if (epoch > warmup_ || with_labels()) context().record(slots, at::log_softmax(scores.logits, 1));
    const at::Tensor rows = unit_rows(head_(scores.features.to(context().device())));
    const at::Tensor nearest = nearest_rows(rows, context().settings().integer("neighbours"), Itself::is_none);
    const std::vector<std::int32_t> labels = context().labels_of(slots);
    const at::Tensor observed = at::tensor(labels, at::kInt).to(rows.device(), at::kLong);
    auto selected = select_balanced(corrected_votes(nearest, observed, samples.classes), labels, alpha_);
    std::fill(selected_.begin(), selected_.end(), -1);
    for (std::size_t i = 0; i < slots.size(); ++i) selected_[slots[i]] = selected[i];
    for (const std::uint32_t slot : samples.trusted)
      if (selected_[slot] == 0) selected_[slot] = 1;
    // Where nothing is selected there is nothing else to learn from.
    if (count() == 0)
      for (const std::uint32_t slot : slots) selected_[slot] = 1;

    for (std::size_t i = 0; i < slots.size(); ++i) selected[i] = selected_[slots[i]];
    const at::Tensor marks = at::tensor(selected, at::kInt).to(rows.device());
    const at::Tensor chosen_rows = marks.nonzero().squeeze(1);
    threshold_ = pair_threshold(rows.index_select(0, chosen_rows), observed.index_select(0, chosen_rows), beta_);
    const std::vector<std::int64_t> numbers(slots.begin(), slots.end());
    const at::Tensor places = at::tensor(numbers, at::kLong).to(rows.device());
    rows_.zero_().index_copy_(0, places, rows);
    marks_.zero_().index_copy_(0, places, marks.to(at::kFloat));
  }

  /// All samples, and, once there are some, the selected ones beside them: two strong views each.
  std::vector<Pass> passes(int epoch) const override {
    Pass pass;
    pass.plans = {context().plan_epoch(epoch)};
    pass.steps = pass.plans.front().batches();
    std::vector<std::uint32_t> classified;
    for (std::size_t slot = 0; slot < selected_.size(); ++slot)
      if (selected_[slot] == 1) classified.push_back(static_cast<std::uint32_t>(slot));
    if (epoch < warmup_) classified = context().epoch_slots(epoch);
    if (epoch >= warmup_ || with_labels()) pass.plans.push_back(context().plan(classified, epoch, 1));
    for (BatchPlan& plan : pass.plans)
      plan.views = contrastive_views(plan.views.front(), context().samples().source->shape().channels == 3,
                                     context().settings().number("view-jitter"));
    return {pass};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor unsupervised = instance_losses(batch);
    ++sums_[2];
    if (step.epoch < warmup_ && !with_labels()) return learner_.step(unsupervised.mean());

    // The warm-up with labels takes them as they are, and mixes nothing.
    const bool is_warmup = step.epoch < warmup_;
    Stream random = mixing_stream(context().seed(), step);
    const Settings& settings = context().settings();
    const Mixtures mixtures = mix(batch, is_warmup, random);
    const at::Tensor slots = slots_of(batch), both = slots.repeat({2});
    const std::int64_t rows = slots.size(0);
    const at::Tensor others = others_mask(2 * rows, mixtures.embedded);
    const Pairs within = pairs_of(slots, mixtures, both, is_warmup);
    auto [contrast, similar] = losses(mixtures, within, mixtures.embedded, mixtures.probabilities, others);
    at::Tensor has_pair = within.labelled.narrow(0, 0, rows).sum(1) > 0;
    if (step.epoch >= memory_start_ && memory_.slots().size(0) > 0) {
      const at::Tensor known = memory_.rows();
      const Pairs beyond = pairs_of(slots, mixtures, memory_.slots(), is_warmup);
      const auto [more, more_similar] =
          losses(mixtures, beyond, known.slice(1, 0, embedding), known.slice(1, embedding), at::ones_like(beyond.own));
      contrast = contrast + more;
      similar = similar + more_similar;
      has_pair = has_pair | (beyond.labelled.narrow(0, 0, rows).sum(1) > 0);
    }
    remember(mixtures, both);

    // Samples without a pair learn from their own views.
    const at::Tensor alone = unsupervised * (1 - has_pair.to(at::kFloat));
    at::Tensor loss = contrast + classification_loss(batches[1], is_warmup, random);
    if (!is_warmup) loss = loss + alone.mean();
    sums_[0] += contrast.item<float>();
    sums_[1] += has_pair.to(at::kFloat).mean().item<float>();
    if (!is_warmup) add_clipped(settings.number("lambda-s") * similar);
    return learner_.step(loss);
  }

  std::span<const std::int32_t> selected() const { return selected_; }

  std::vector<Metric> metrics() const {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const bool decided = std::ranges::any_of(selected_, [](std::int32_t mark) { return mark >= 0; });
    const auto mean = [&](float sum) { return sums_[2] > 0 ? static_cast<double>(sum / sums_[2]) : unknown; };
    return {{"labelled", decided ? static_cast<double>(count()) : unknown},
            {"pair_threshold", decided ? threshold_ : unknown},
            {"with_pair", mean(sums_[1])},
            {"loss_contrastive", mean(sums_[0])}};
  }

  void collect(State& state) {
    const std::size_t samples = context().samples().size();
    state.add("selected", selected_, {-1, 1});
    state.add("embeddings", rows_);
    state.add("marks", marks_, {0, 1});
    state.add("pair_threshold", threshold_, {-1.001, 1.001});
    state.add("epoch_sums", sums_, {.low = 0});
    queue_.collect(state, "keys.", samples);
    memory_.collect(state, "memory.", samples);
  }

 private:
  static double chosen(double given, double otherwise) { return given >= 0 ? given : otherwise; }
  bool with_labels() const { return context().settings().flag("warmup-labels"); }
  std::size_t count() const { return static_cast<std::size_t>(std::count(selected_.begin(), selected_.end(), 1)); }

  /// MoCo: what the network says about one view is to be near what its ema says about the other, and far from what that
  /// said about other images before.
  at::Tensor instance_losses(const TensorBatch& batch) {
    const at::Tensor query = unit_rows(head_(learner_.forward(batch.views[0]).features));
    const at::Tensor key = embed_by_ema(learner_.forward_ema(batch.views[1]));
    const at::Tensor similarities =
        at::cat({(query * key).sum(1, /*keepdim=*/true), at::matmul(query, queue_.rows().t())}, 1);
    at::Tensor positives = at::zeros_like(similarities.detach());
    positives.select(1, 0).fill_(1);
    queue_.push(key, slots_of(batch));
    return contrastive_losses(similarities, positives, at::ones_like(positives), temperature);
  }

  at::Tensor embed_by_ema(const Scores& scores) const {
    const at::NoGradGuard no_grad;
    return unit_rows(learner_.ema() != nullptr ? head_.of_ema(scores.features) : head_(scores.features));
  }

  Mixtures mix(const TensorBatch& batch, bool is_warmup, Stream& random) {
    Mixtures result;
    at::Tensor features[2], logits[2];
    for (std::size_t i = 0; i < 2; ++i) {
      result.views[i] = mixed_or_not(batch.views[i], is_warmup, random);
      const Scores scores = learner_.forward(result.views[i].images);
      features[i] = scores.features;
      logits[i] = scores.logits.to(at::kFloat);
    }
    result.embedded = unit_rows(head_(at::cat({features[0], features[1]})));
    result.probabilities = at::softmax(at::cat({logits[0], logits[1]}), 1);
    const std::int64_t rows = batch.labels.size(0);
    result.shares = at::cat({at::full({rows}, result.views[0].share), at::full({rows}, result.views[1].share)})
                        .to(batch.labels.device(), at::kFloat);
    return result;
  }

  MixedView mixed_or_not(const at::Tensor& images, bool is_warmup, Stream& random) const {
    if (!is_warmup) return mix_view(images, context().settings().number("mix-alpha"), random);
    return {images, at::arange(images.size(0), at::TensorOptions(images.device()).dtype(at::kLong)), 1};
  }

  /// Samples with one label belong together if both are confident, or as near as confident ones are. In the warm-up
  /// with labels the label is enough.
  at::Tensor belong(const at::Tensor& slots, const at::Tensor& others, bool is_warmup) const {
    const auto row = [&](const at::Tensor& of) { return of.index_select(0, slots).unsqueeze(1); };
    const auto column = [&](const at::Tensor& of) { return of.index_select(0, others).unsqueeze(0); };
    const at::Tensor same = row(context().labels()) == column(context().labels());
    if (is_warmup) return same.to(at::kFloat);
    const at::Tensor near = at::matmul(rows_.index_select(0, slots), rows_.index_select(0, others).t()) >= threshold_;
    const at::Tensor confident = row(marks_) * column(marks_) > 0;
    return (same & (near | confident)).to(at::kFloat);
  }

  /// The mixtures of both views against other samples, which may be the mixtures themselves.
  Pairs pairs_of(const at::Tensor& slots, const Mixtures& mixtures, const at::Tensor& others, bool is_warmup) const {
    const at::Tensor all = belong(slots, others, is_warmup);
    const at::Tensor same = (slots.unsqueeze(1) == others.unsqueeze(0)).to(at::kFloat);
    const at::Tensor labelled = all * (1 - same), with_views = at::max(all, same);
    const auto of_partners = [&](std::size_t view) {
      return with_views.index_select(0, mixtures.views[view].partners);
    };
    return {with_views.repeat({2, 1}), at::cat({of_partners(0), of_partners(1)}), labelled.repeat({2, 1})};
  }

  /// The contrastive loss of the mixtures that have a pair among the others, and the similarity loss. `candidates` is 0
  /// where a mixture would be compared with itself.
  std::pair<at::Tensor, at::Tensor> losses(const Mixtures& mixtures, const Pairs& pairs, const at::Tensor& embedded,
                                           const at::Tensor& probabilities, const at::Tensor& candidates) const {
    const at::Tensor own = pairs.own * candidates, of_partner = pairs.of_partner * candidates;
    const at::Tensor contrast = interpolated_losses(at::matmul(mixtures.embedded, embedded.t()), own, of_partner,
                                                    candidates, mixtures.shares, temperature) *
                                (pairs.labelled.sum(1) > 0).to(at::kFloat);
    const at::Tensor similarities = at::matmul(mixtures.probabilities, probabilities.t());
    const at::Tensor shares = mixtures.shares.unsqueeze(1);
    const at::Tensor similar = shares * similarity_losses(similarities, own, candidates) +
                               (1 - shares) * similarity_losses(similarities, of_partner, candidates);
    return {contrast.mean(), similar.mean()};
  }

  /// The ema's view of the mixtures is what later ones are compared with.
  void remember(const Mixtures& mixtures, const at::Tensor& slots) {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> known;
    for (const MixedView& view : mixtures.views) {
      const Scores scores = learner_.forward_ema(view.images);
      known.push_back(at::cat({embed_by_ema(scores), at::softmax(scores.logits.to(at::kFloat), 1)}, 1));
    }
    memory_.push(at::cat(known), slots);
  }

  /// Cross-entropy on the selected samples, mixed anew.
  at::Tensor classification_loss(const TensorBatch& batch, bool is_warmup, Stream& random) {
    const at::Tensor targets = smoothed(one_hot_rows(batch.labels, context().samples().classes),
                                        context().settings().number("label-smoothing"));
    at::Tensor sum;
    for (std::size_t i = 0; i < 2; ++i) {
      const MixedView mix = mixed_or_not(batch.views[i], is_warmup, random);
      const at::Tensor logits = learner_.forward(mix.images).logits;
      const at::Tensor loss = soft_cross_entropy(logits, mixed(targets, mix.partners, mix.share)).mean();
      sum = sum.defined() ? sum + loss : loss;
    }
    return sum / 2;
  }

  /// Adds the gradient of a loss, no longer than 0.25, to that of the step that follows.
  void add_clipped(const at::Tensor& loss) {
    if (loss.item<float>() == 0) return;
    loss.backward({}, /*retain_graph=*/true);
    const at::NoGradGuard no_grad;
    double squares = 0;
    for (const Parameter& parameter : learner_.model().parameters())
      if (parameter.tensor.grad().defined()) squares += parameter.tensor.grad().square().sum().item<double>();
    const double scale = most_similarity_gradient / (std::sqrt(squares) + 1e-6);
    if (!(scale < 1)) return;
    for (const Parameter& parameter : learner_.model().parameters())
      if (parameter.tensor.grad().defined()) parameter.tensor.mutable_grad().mul_(scale);
  }

  Learner& learner_;
  Head head_;
  int warmup_, memory_start_;
  double alpha_ = 0, beta_ = 0, threshold_ = 0;
  std::vector<std::int32_t> selected_;
  at::Tensor rows_, marks_;  ///< of each slot: its embedding, and 1 if it is selected
  EmbeddingMemory queue_, memory_;
  std::vector<float> sums_;  ///< of an epoch: contrastive losses, shares of samples with a pair, steps
};

class SelCl : public Method {
 public:
  explicit SelCl(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        main_epochs_(main_epochs(context.settings())),
        main_(context, *learner_, main_epochs_),
        last_(context, *learner_, main_epochs_, main_.selected()) {}

  Phase& phase(int epoch) override {
    if (epoch < main_epochs_) return main_;
    return last_;
  }

  /// The fine-tuning keeps to the last selection, unless its epochs have other samples.
  void begin_epoch(int epoch) override {
    if (epoch <= main_epochs_ || context().draws_epochs()) main_.select(epoch);
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return main_.selected(); }
  std::vector<Metric> metrics() const override { return main_.metrics(); }
  double batches_held() const override { return 5; }

  void collect(State& state) override {
    Method::collect(state);
    main_.collect(state);
  }

 private:
  static int main_epochs(const Settings& settings) {
    const auto epochs = static_cast<int>(settings.integer("epochs"));
    if (!settings.flag("finetune")) return epochs;
    return std::max(1, epochs - phase_epochs(settings, "finetune-epochs", paper_tuning, paper_epochs + paper_tuning));
  }

  std::unique_ptr<Learner> learner_;
  int main_epochs_;
  SelClPhase main_;
  FineTuningPhase last_;
};

}  // namespace

double pair_threshold(const at::Tensor& rows, const at::Tensor& labels, double beta) {
  constexpr std::int64_t bins = 1 << 16, most_products = 1 << 24;
  at::Tensor counts = at::zeros({bins}, at::TensorOptions(at::kCPU).dtype(at::kDouble));
  for (std::int64_t label = 0; label <= labels.max().item<std::int64_t>(); ++label) {
    const at::Tensor members = rows.index_select(0, (labels == label).nonzero().squeeze(1));
    const std::int64_t size = members.size(0),
                       block = std::max<std::int64_t>(1, most_products / std::max<std::int64_t>(1, size));
    for (std::int64_t begin = 0; begin < size; begin += block) {
      const at::Tensor cosines = at::matmul(members.slice(0, begin, std::min(size, begin + block)), members.t());
      counts += at::histc(cosines.clamp(-1, 1).to(at::kCPU, at::kFloat), bins, -1, 1).to(at::kDouble);
    }
  }
  const double wanted = beta * (counts.sum().item<double>() - 1);
  double below = 0;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    below += counts.data_ptr<double>()[bin];
    if (below > wanted) return -1 + 2.0 * static_cast<double>(bin) / bins;
  }
  return 1;
}

at::Tensor similarity_losses(const at::Tensor& similarities, const at::Tensor& pairs, const at::Tensor& counted) {
  constexpr double least = 1e-7;
  return -(pairs * (similarities + least).log() + (1 - pairs) * (1 - similarities + least).clamp_min(least).log()) *
         counted;
}

MethodInfo sel_cl_method() {
  constexpr std::string_view group = "Sel-CL";
  return {
      .name = "sel-cl",
      .description = "Sel-CL+: contrastive learning of confident pairs, then fine-tuning on confident samples",
      .year = 2022,
      .paper = "Selective-Supervised Contrastive Learning with Noisy Labels",
      .settings =
          {{"warmup-epochs", group, std::int64_t{0},
            "Epochs before labels are selected, which compare the views of an image alone; 0: 0.4 % of those before "
            "the fine-tuning",
            0, 1e6},
           {"warmup-labels", group, false, "Learn from all labels in these epochs, as on WebVision"},
           {"memory-epochs", group, std::int64_t{0},
            "Epochs before images are compared with those of the last steps; 0: 1.2 % of those before the fine-tuning",
            0, 1e6},
           {"finetune", group, true, "End with fine-tuning: Sel-CL+"},
           {"finetune-epochs", group, std::int64_t{0},
            "Epochs at the end that train a new classifier on the selected labels alone; 0: 22 % of the run", 0, 1e6},
           fine_tuning_rate(group),
           {"neighbours", group, std::int64_t{250}, "Neighbours that vote", 1, 1e6},
           {"class-quantile", group, -1.0,
            "The paper's alpha: of the numbers of right labels of the classes, the quantile that is selected of each "
            "class; -1: 0.5, or "
            "0.75 with 100 classes or more",
            -1, 1},
           {"pair-quantile", group, -1.0,
            "The paper's beta: of the likenesses of selected pairs, the quantile from which others are pairs too; -1: "
            "0.25, or 0.35 with "
            "100 classes or more",
            -1, 1},
           {"lambda-s", group, 0.01, "Weight of the similarity loss of the predictions of pairs", 0, 1e4},
           {"view-jitter", group, 0.4, "Colour jitter of the views that are compared", 0, 1},
           {"mix-alpha", group, 1.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}},
      .defaults = {{"model", std::string("preact-resnet18")},
                   {"epochs", std::int64_t{320}},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.5, 0.8")},
                   {"lr-rise", 0.02},
                   {"lr-start", 0.01},
                   {"weight-decay", 1e-4},
                   {"ema", 0.999}},
      // So few steps do not teach a new classifier what the old one knows, and at the usual rate the losses add up to
      // too long a step.
      .recipes = {{"fast", {{"finetune", false}, {"lr", 0.2}, {"min-lr", 0.02}}}, {"photos", {{"finetune", false}}}},
      .needs_images = true,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<SelCl>(context); }};
}

}  // namespace regroup
