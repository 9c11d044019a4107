#include "regroup/methods/m_correction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/mixmatch.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 300, paper_warmup = 105;

class MCorrection : public Method {
 public:
  explicit MCorrection(Context& context)
      : Method(context),
        warmup_(phase_epochs(context.settings(), "warmup-epochs", paper_warmup, paper_epochs)),
        learner_(context.make_learner("model")),
        weights_(context.samples().size(), 1) {}

  /// MixUp (Eq. 10), and after the warm-up with targets that are corrected for either image (Eq. 13).
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor& x = batch.views.front();
    const bool corrects = step.epoch >= warmup_;
    const at::Tensor targets = smoothed(corrects ? corrected(batch) : given(batch.labels));

    Stream random = mixing_stream(context().seed(), step);
    const double lambda = symmetric_beta(random, context().settings().number("mix-alpha"));
    const at::Tensor partners = at::tensor(permutation(random, x.size(0)), at::kLong).to(x.device());
    const at::Tensor logits = learner_->forward(mixed(x, partners, lambda)).logits;
    at::Tensor loss = soft_cross_entropy(logits, mixed(targets, partners, lambda)).mean();
    // Against all samples becoming one class (Tanaka et al.), with the weight 1 of the paper.
    if (corrects) loss = loss + uniform_prior_penalty(logits);
    return learner_->step(loss);
  }

  /// The mixture is fitted to the losses of the samples as they are, at the end of each epoch.
  void end_epoch(int epoch) override {
    const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
    context().record(slots, at::log_softmax(context().score({&learner_->model()}, slots).front().logits, 1));
    std::vector<float> losses;
    for (const std::uint32_t slot : slots) losses.push_back(context().book().losses()[slot]);
    const WrongLabelTable table = fit_wrong_label_table(losses);
    table_.range = table.range;
    std::ranges::copy(table.posterior, table_.posterior.begin());  // which is part of the state, and stays where it is
    for (const std::uint32_t slot : slots)
      weights_[slot] = static_cast<float>(1 - table_.at(static_cast<double>(context().book().losses()[slot])));
    for (const std::uint32_t slot : context().samples().trusted) weights_[slot] = 1;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const float> weights() const override { return weights_; }

  void collect(State& state) override {
    Method::collect(state);
    state.add("wrong-low", table_.range.low, {0, 1e30});
    state.add("wrong-high", table_.range.high, {0, 1e30});
    state.add("wrong-posterior", table_.posterior, {0, 1});
    state.add("weights", weights_, {0, 1});
  }

 private:
  at::Tensor given(const at::Tensor& labels) const { return one_hot_rows(labels, context().samples().classes); }

  at::Tensor smoothed(const at::Tensor& targets) const {
    const double share = context().settings().number("label-smoothing");
    return share == 0 ? targets : targets * (1 - share) + share / static_cast<double>(targets.size(1));
  }

  /// (1 - w) y + w z: w is the probability that the label is wrong, by the loss that the image as it is not mixed has
  /// now in evaluation, and z the class that the network predicts for it. As published z is predicted in training: so
  /// the batch statistics also follow images that are not mixed, by which w and all accuracies are measured.
  at::Tensor corrected(const TensorBatch& batch) {
    const at::Tensor logits = learner_->forward_in_evaluation(batch.views.front()).logits;
    const at::Tensor losses = context().losses(logits, batch.labels).plain.to(at::kCPU, at::kFloat).contiguous();
    const at::Tensor w = at::empty({losses.size(0), 1}, at::kFloat);
    for (std::int64_t i = 0; i < losses.size(0); ++i)
      w.data_ptr<float>()[i] = static_cast<float>(table_.at(static_cast<double>(losses.data_ptr<float>()[i])));
    at::Tensor predicted;
    {
      const at::NoGradGuard no_grad;
      predicted = learner_->forward(batch.views.front()).logits.argmax(1);
    }
    const at::Tensor wrong = w.to(logits.device()) * (1 - context().trusted(batch.index).to(at::kFloat)).unsqueeze(1);
    return given(batch.labels) * (1 - wrong) + given(predicted) * wrong;
  }

  int warmup_;
  std::unique_ptr<Learner> learner_;
  WrongLabelTable table_;
  std::vector<float> weights_;  ///< 1 - w of each sample at the end of the last epoch that it was in
};

}  // namespace

double WrongLabelTable::at(double loss) const {
  const auto last = posterior.size() - 1;
  const auto row = static_cast<std::size_t>(range.place(loss) * static_cast<double>(posterior.size()));
  return static_cast<double>(posterior[std::min(row, last)]);
}

WrongLabelTable fit_wrong_label_table(std::span<const float> losses) {
  WrongLabelTable table;
  table.range = quantile_range(losses, 0.05, 0.95);
  const BetaMixture mixture = fit_beta_mixture(normalise_trimmed(losses, table.range));
  for (std::size_t i = 0; i < table.posterior.size(); ++i)
    table.posterior[i] = static_cast<float>(
        mixture.upper_posterior(static_cast<double>(i) / static_cast<double>(table.posterior.size() - 1)));
  const auto highest = std::max_element(table.posterior.begin(), table.posterior.end());
  std::fill(highest, table.posterior.end(), *highest);
  return table;
}

MethodInfo m_correction_method() {
  constexpr std::string_view group = "M-correction";
  return {.name = "m-correction",
          .description = "M-correction: images are mixed, and labels with large losses give way to predictions",
          .year = 2019,
          .paper = "Unsupervised Label Noise Modeling and Loss Correction",
          .settings = {{"warmup-epochs", group, std::int64_t{0},
                        "Epochs of MixUp before labels are corrected; 0: 35 % of the run", 0, 1e6},
                       {"mix-alpha", group, 32.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}},
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{300}},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.8333")},
                       {"weight-decay", 1e-4},
                       {"ema", 0.0}},
          // Labels are corrected once the network knows something and its learning rate has fallen, as in the paper;
          // and from images that are mixed half and half it would learn too little in so few steps.
          .recipes = {{"fast", {{"warmup-epochs", std::int64_t{10}}, {"mix-alpha", 1.0}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<MCorrection>(context); }};
}

}  // namespace regroup
