#include "regroup/methods/elr_plus.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "regroup/methods/elr.h"
#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"
#include "regroup/methods/twins.h"

namespace regroup {
namespace {

/// The paper ramps over 40,000 steps, which are 114 epochs of 45,000 images in batches of 128.
constexpr double paper_ramp = 114;

class ElrPlus : public Method {
 public:
  explicit ElrPlus(Context& context)
      : Method(context), twins_(context), said_{TemporalEnsemble(context), TemporalEnsemble(context)} {
    const Settings& settings = context.settings();
    many_ = context.samples().classes >= 100;
    const double paper_epochs = many_ ? 250 : 200;
    lambda_ = settings.number("lambda");
    if (lambda_ == -1) lambda_ = many_ ? 7 : 3;
    beta_ = settings.number("beta");
    if (beta_ == -1) beta_ = many_ ? 0.9 : 0.7;
    ema_ramp_ = phase_epochs(settings, "ema-ramp-epochs", paper_ramp, paper_epochs);
    if (many_ || settings.integer("ramp-epochs") > 0)
      ramp_ = phase_epochs(settings, "ramp-epochs", paper_ramp, paper_epochs);
  }

  /// Each network has an order of its own. In the published code each also draws its own noise and its own validation
  /// part, so that the pair sees two labels of an image; here both learn from the same data. There they train in turn,
  /// an epoch each, here step by step.
  std::vector<Pass> passes(int epoch) const override {
    Pass pass = whole(context().plan_epoch(epoch));
    pass.plans.push_back(pass.plans.front());
    pass.plans.back().stream = 1;
    return {pass};
  }

  double step(const Step& step, std::span<const TensorBatch> batches) override {
    Stream random = mixing_stream(context().seed(), step);
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) sum += train(i, batches[i], step, random);
    return sum / 2;
  }

  std::vector<Learner*> learners() override { return twins_.all(); }
  std::string primary() override { return "both"; }

  std::vector<Predictor> predictors() override {
    std::vector<Predictor> predictors = Method::predictors();
    predictors.push_back(twins_.together(PredictorMean::logits));
    return predictors;
  }

  double batches_held() const override { return 2; }

  void collect(State& state) override {
    Method::collect(state);
    said_[0].collect(state, "said1");
    said_[1].collect(state, "said2");
  }

 private:
  /// L = CE + lambda log(1 - <t, p>) of mixed images, with labels y and t that are mixed alike.
  double train(std::size_t network, const TensorBatch& batch, const Step& step, Stream& random) {
    const Settings& settings = context().settings();
    Learner &learner = twins_[network], &other = twins_[1 - network];

    // What t follows is said by the average of the other network's weights, about images that are not mixed.
    const at::Tensor others = other.forward_ema(batch.views.front()).logits;
    if (network == 0) context().record(batch, context().losses(others, batch.labels).plain, others);
    const at::Tensor said = said_[network].follow(context(), batch, others, beta_);

    const double lambda = symmetric_beta(random, settings.number("mix-alpha")), share = std::max(lambda, 1 - lambda);
    const at::Tensor partners =
        at::tensor(permutation(random, batch.labels.size(0)), at::kLong).to(batch.labels.device());
    const at::Tensor t = mixed(said, partners, share);
    at::Tensor y = mixed(context().targets(batch.labels), partners, share);
    // Among many classes the published code believes a label as far as t does.
    if (many_) y = y * t / (y * t).sum(1, /*keepdim=*/true);

    const at::Tensor logits = learner.forward(mixed(batch.views.front(), partners, share)).logits;
    learner.ema_decay = settings.number("ema") * slow_ramp(step.time(), ema_ramp_);
    const double weight = lambda_ * slow_ramp(step.time(), ramp_);
    const at::Tensor loss = soft_cross_entropy(logits, y) + weight * early_learning_term(t, bounded_softmax(logits));
    return learner.step(loss.mean());
  }

  Twins twins_;
  TemporalEnsemble said_[2];  ///< t of each network
  double lambda_, beta_;
  int ema_ramp_, ramp_ = 0;
  bool many_;
};

}  // namespace

double slow_ramp(double time, double length) {
  const double left = length > 0 ? 1 - std::clamp(time / length, 0.0, 1.0) : 0;
  return std::exp(-5 * left * left);
}

MethodInfo elr_plus_method() {
  constexpr std::string_view group = "ELR+";
  return {.name = "elr-plus",
          .description = "ELR+: ELR on mixed images, by what the average of another network said of a sample",
          .year = 2020,
          .paper = "Early-Learning Regularization Prevents Memorization of Noisy Labels",
          .settings =
              {{"lambda", group, -1.0, "Weight of the regularisation; -1: 3, or 7 with 100 classes or more", -1, 1e4},
               {"beta", group, -1.0,
                "How slowly it forgets what the networks said; -1: 0.7, or 0.9 with 100 classes or more", -1, 0.9999},
               {"ramp-epochs", group, std::int64_t{0},
                "Epochs in which lambda rises to its value; 0: 46 % of the run with 100 classes or more, else it has "
                "its value from the beginning",
                0, 1e6},
               {"ema-ramp-epochs", group, std::int64_t{0},
                "Epochs in which the decay of the ema rises to its value; 0: 57 % of the run, 46 % with 100 classes or "
                "more",
                0, 1e6},
               {"mix-alpha", group, 1.0, "Shares of a mixture come from Beta(alpha, alpha)", 0.01, 1000}},
          // The rate falls to a tenth at epoch 150 of 200, with 100 classes at 200 of 250.
          .defaults = {{"model", std::string("preact-resnet18")},
                       {"epochs", std::int64_t{200}},
                       {"lr", 0.02},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.75")},
                       {"ema", 0.997}},
          .networks = 2,
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<ElrPlus>(context); }};
}

}  // namespace regroup
