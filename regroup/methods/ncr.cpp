#include "regroup/methods/ncr.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 130, paper_plain = 10;

class Ncr : public Method {
 public:
  explicit Ncr(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        plain_(phase_epochs(context.settings(), "plain-epochs", paper_plain, paper_epochs)) {}

  void begin_epoch(int /*epoch*/) override { sum_ = steps_ = 0; }

  /// L = (1 - alpha) CE + alpha NCR, after some epochs of cross-entropy. As published, gradients also go through what
  /// the neighbours say and how near they are.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const Settings& settings = context().settings();
    const Scores scores = learner_->forward(batch.views.front());
    const auto losses = context().losses(scores.logits, batch.labels);
    context().record(batch, losses.plain, scores.logits);
    if (step.epoch < plain_) return learner_->step(losses.trained.mean());
    const at::Tensor shares =
        neighbour_shares(scores.features.to(at::kFloat), static_cast<int>(settings.integer("neighbours")));
    const at::Tensor consistency = neighbour_divergence(scores.logits, shares, settings.number("temperature"));
    sum_ += consistency.mean().item<double>();
    ++steps_;
    // A label that somebody has verified needs nobody's consent.
    const at::Tensor alpha =
        context().trusted(batch.index).logical_not().to(at::kFloat) * settings.number("consistency-weight");
    return learner_->step((losses.trained * (1 - alpha) + consistency * alpha).mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }

  std::vector<Metric> metrics() const override {
    return {{"consistency_loss", steps_ > 0 ? sum_ / steps_ : std::numeric_limits<double>::quiet_NaN()}};
  }

  void collect(State& state) override {
    Method::collect(state);
    state.add("consistency_sum", sum_, {0, 1e30});
    state.add("consistency_steps", steps_, {0, 1e15});
  }

 private:
  std::unique_ptr<Learner> learner_;
  int plain_;
  double sum_ = 0, steps_ = 0;  ///< of the epoch
};

}  // namespace

at::Tensor neighbour_shares(const at::Tensor& features, int count) {
  const at::Tensor unit = features / features.norm(2, {1}, /*keepdim=*/true).clamp_min(1e-6);
  const auto rows = features.size(0);
  const at::Tensor itself = at::eye(rows, features.options().dtype(at::kBool));
  // No row is its own neighbour.
  const at::Tensor cosines = at::mm(unit, unit.t()).masked_fill(itself, -2);
  const auto [nearest, which] = cosines.topk(std::min<std::int64_t>(count, rows - 1), 1);
  const at::Tensor similarities = at::zeros_like(cosines).scatter(1, which, nearest.relu());
  return similarities / similarities.sum(1, /*keepdim=*/true).clamp_min(1e-12);
}

at::Tensor neighbour_divergence(const at::Tensor& logits, const at::Tensor& shares, double temperature) {
  const at::Tensor said = at::mm(shares, at::softmax(logits / temperature, 1));
  const at::Tensor log_p = at::log_softmax(logits / temperature, 1);
  return (said * (said.clamp_min(1e-12).log() - log_p)).sum(1) * (temperature * temperature);
}

MethodInfo ncr_method() {
  constexpr std::string_view group = "NCR";
  return {.name = "ncr",
          .description = "NCR: a sample is predicted like those of its batch that look alike to the network",
          .year = 2022,
          .paper = "Learning with Neighbor Consistency for Noisy Labels",
          .settings = {{"plain-epochs", group, std::int64_t{0},
                        "Epochs of cross-entropy before neighbours count; 0: 8 % of the run", 0, 1e6},
                       {"consistency-weight", group, 0.3,
                        "Weight of the neighbours' predictions (alpha); that of the label is the rest", 0, 1},
                       {"neighbours", group, std::int64_t{100}, "Neighbours per sample, at most the rest of its batch",
                        1, 1e6},
                       {"temperature", group, 2.0,
                        "Temperature of predictions that are compared; the higher, the more unlikely classes count",
                        0.01, 100}},
          .defaults = {{"epochs", std::int64_t{130}},
                       {"min-lr", 0.0},
                       {"lr-rise", 5 / paper_epochs},
                       {"lr-start", 0.0},
                       {"ema", 0.0}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Ncr>(context); }};
}

}  // namespace regroup
