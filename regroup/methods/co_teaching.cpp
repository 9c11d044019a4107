#include "regroup/methods/co_teaching.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "regroup/methods/running_noise_rate.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/twins.h"

namespace regroup {
namespace {

/// How long R(t) rises, and the share of the run after which Adam's beta 1 falls to 0.1.
constexpr double paper_epochs = 200, paper_gradual = 10, late_share = 80 / paper_epochs;
constexpr double late_beta1 = 0.1;

std::vector<float> on_cpu(const at::Tensor& losses) {
  const at::Tensor dense = losses.detach().to(at::kCPU, at::kFloat).contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

class CoTeaching : public Method {
 public:
  explicit CoTeaching(Context& context)
      : Method(context),
        twins_(context),
        gradual_(phase_epochs(context.settings(), "gradual-epochs", paper_gradual, paper_epochs)) {}

  /// The share of wrong labels is given, or what the losses of the last epochs show.
  void begin_epoch(int epoch) override {
    rate_ = context().settings().number("forget-rate");
    if (rate_ < 0) rate_ = seen_.before(context(), epoch);
    forget_ = forget_share(epoch, gradual_, rate_);
  }

  /// Each network looks for the samples with the smallest losses, and the other one learns from those. The published
  /// code divides the mean loss by the count once more, which Adam hides; this is the paper's.
  double step(const Step& step, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const bool late = step.share() >= late_share && context().settings().text("optimizer") == "adam";
    Context::Losses losses[2];
    std::vector<std::int64_t> chosen[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const at::Tensor logits = twins_[i].forward(batch.views.front()).logits;
      losses[i] = context().losses(logits, batch.labels);
      chosen[i] = smallest(on_cpu(losses[i].plain), forget_);
      if (i == 0) context().record(batch, losses[i].plain, logits);
    }
    double mean = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (late) twins_[i].optimizer().momentum = late_beta1;
      const at::Tensor others = at::tensor(chosen[1 - i], at::kLong).to(batch.labels.device());
      mean += twins_[i].step(losses[i].trained.index_select(0, others).mean()) / 2;
    }
    return mean;
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::probabilities));
    return predictors;
  }

  std::vector<Metric> metrics() const override { return {{"forget_rate", forget_}}; }
  double batches_held() const override { return 2; }

  void collect(State& state) override {
    Method::collect(state);
    state.add("forget_rate", rate_, {0, 1});
    state.add("forgotten", forget_, {0, 1});
    seen_.collect(state);
  }

 private:
  Twins twins_;
  int gradual_;
  double rate_ = 0, forget_ = 0;
  RunningNoiseRate seen_;
};

}  // namespace

std::vector<std::int64_t> smallest(std::span<const float> losses, double forget) {
  std::vector<std::int64_t> order(losses.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return losses[static_cast<std::size_t>(a)] < losses[static_cast<std::size_t>(b)];
  });
  const auto kept = static_cast<std::size_t>((1 - forget) * static_cast<double>(losses.size()));
  order.resize(std::max<std::size_t>(1, kept));
  return order;
}

double forget_share(int epoch, int gradual, double rate) {
  return gradual <= 1 ? rate : rate * std::min(1.0, static_cast<double>(epoch) / (gradual - 1));
}

MethodInfo co_teaching_method() {
  constexpr std::string_view group = "Co-teaching";
  return {
      .name = "co-teaching",
      .description = "Co-teaching: each of two networks picks the samples with small losses for the other",
      .year = 2018,
      .paper = "Co-teaching: Robust Training of Deep Neural Networks with Extremely Noisy Labels",
      .settings =
          {{"forget-rate", group, -1.0,
            "Share of each batch that is left out in the end, best the share of wrong labels; -1: estimated from the "
            "losses as soon as they tell it",
            -1, 1},
           {"gradual-epochs", group, std::int64_t{0}, "Epochs over which that share rises from 0; 0: 5 % of the run", 0,
            1e6}},
      .defaults = {{"optimizer", std::string("adam")},
                   {"lr", 1e-3},
                   {"min-lr", 0.0},
                   {"schedule", std::string("late-linear")},
                   {"weight-decay", 0.0},
                   {"ema", 0.0}},
      .networks = 2,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<CoTeaching>(context); }};
}

}  // namespace regroup
