#include "regroup/methods/mentornet.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/running_noise_rate.h"
#include "regroup/stats/unit_range.h"

namespace regroup {
namespace {

/// How much of the running percentile stays from batch to batch.
constexpr double percentile_memory = 0.5;

/// The published percentiles are 1 - noise rate, down to this.
constexpr double lowest_percentile = 0.5;

/// The published mentor is a small network that was trained to imitate the predefined curriculum; here the curriculum
/// itself gives the weights.
class MentorNet : public Method {
 public:
  explicit MentorNet(Context& context)
      : Method(context), learner_(context.make_learner("model")), weights_(context.samples().size(), 1) {}

  void begin_epoch(int epoch) override {
    percentile_ = context().settings().number("loss-percentile");
    if (percentile_ < 0) percentile_ = std::max(lowest_percentile, 1 - noise_rate_.before(context(), epoch));
  }

  /// Algorithm 1 (SPADE): v from the losses of the batch, then a step with the mean of v times the loss. The weight
  /// decay of a step is as large as the mean of v.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    const at::Tensor plain = losses.plain.detach().to(at::kCPU, at::kFloat).contiguous();
    const std::vector<float> v = weigh(step, batch, {plain.data_ptr<float>(), batch.slots.size()});
    const at::Tensor weights = at::tensor(v).to(logits.device());
    learner_->optimizer().decay_share = weights.mean().item<double>();
    return learner_->step((losses.trained * weights).mean());
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const float> weights() const override { return weights_; }
  std::vector<Metric> metrics() const override { return {{"loss_percentile", percentile_}, {"loss_bound", bound_}}; }

  void collect(State& state) override {
    Method::collect(state);
    state.add("percentile", percentile_, {0, 1});
    state.add("bound", bound_, {.low = -1});
    state.add("weights", weights_, {0, 1});
    noise_rate_.collect(state);
  }

 private:
  std::vector<float> weigh(const Step& step, const TensorBatch& batch, std::span<const float> losses) {
    // lambda_1: the running percentile of the losses.
    const double now = quantile_range(losses, percentile_, 1).low;
    bound_ = bound_ < 0 ? now : percentile_memory * bound_ + (1 - percentile_memory) * now;

    const CurriculumTimes times;
    std::vector<float> v = curriculum_weights(losses, bound_, step.share(), times);
    const std::vector<std::uint32_t>& trusted = context().samples().trusted;
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (std::ranges::binary_search(trusted, batch.slots[i])) v[i] = 1;
      weights_[batch.slots[i]] = v[i];
    }
    // Dropout of samples: some of the batch count nothing, more of them in the beginning.
    const double share = context().settings().number(step.share() < times.dropped ? "early-dropout" : "dropout");
    Stream random = mixing_stream(context().seed(), step);
    const auto order = permutation(random, static_cast<std::int64_t>(v.size()));
    const auto dropped = static_cast<std::size_t>(share * static_cast<double>(v.size()));
    for (std::size_t i = 0; i < dropped; ++i) v[static_cast<std::size_t>(order[i])] = 0;
    return v;
  }

  std::unique_ptr<Learner> learner_;
  RunningNoiseRate noise_rate_;
  double percentile_ = 1;
  double bound_ = -1;  ///< -1: no batch yet
  std::vector<float> weights_;
};

}  // namespace

std::vector<float> curriculum_weights(std::span<const float> losses, double bound, double share,
                                      const CurriculumTimes& times) {
  std::vector<float> v;
  for (const float loss : losses) {
    const double above = static_cast<double>(loss) - bound;
    const double weight = share < times.all      ? 1
                          : share < times.graded ? (above <= 0 ? 1 : 0)
                                                 : std::clamp(1 - above, 0.0, 1.0);
    v.push_back(static_cast<float>(weight));
  }
  return v;
}

MethodInfo mentornet_method() {
  constexpr std::string_view group = "MentorNet";
  return {
      .name = "mentornet",
      .description = "MentorNet PD: a predefined curriculum leaves out the samples with large losses",
      .year = 2018,
      .paper = "MentorNet: Learning Data-Driven Curriculum for Very Deep Neural Networks on Corrupted Labels",
      .settings = {{"loss-percentile", group, -1.0,
                    "Share of the samples whose losses lie below the bound; -1: 1 minus the noise rate, estimated from "
                    "the losses as soon as they tell it, but at least 0.5",
                    -1, 1},
                   {"early-dropout", group, 0.5, "Share of each batch that is left out in the first 17 % of the run", 0,
                    0.99},
                   {"dropout", group, 0.05, "Share of each batch that is left out in the rest of the run", 0, 0.99}},
      .defaults = {{"epochs", std::int64_t{100}},
                   {"schedule", std::string("steps")},
                   {"lr-steps", std::string("0.5, 0.641, 0.769")},
                   {"weight-decay", 2e-4},
                   {"ema", 0.0}},
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<MentorNet>(context); }};
}

}  // namespace regroup
