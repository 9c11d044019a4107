#include "regroup/methods/elr.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "regroup/methods/mixing.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 150, paper_cycle = 10;

class Elr : public Method {
 public:
  explicit Elr(Context& context) : Method(context), learner_(context.make_learner("model")), said_(context) {
    const Settings& settings = context.settings();
    const bool few = context.samples().classes < 100;
    lambda_ = settings.number("lambda");
    if (lambda_ == -1) lambda_ = few ? 3 : 7;
    beta_ = settings.number("beta");
    if (beta_ == -1) beta_ = few ? 0.7 : 0.9;
    if (few || settings.integer("restart-epochs") > 0)
      cycle_ = phase_epochs(settings, "restart-epochs", paper_cycle, paper_epochs);
  }

  /// L = CE + lambda log(1 - <t, p>).
  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    const auto losses = context().losses(logits, batch.labels);
    context().record(batch, losses.plain, logits);
    const at::Tensor t = said_.follow(context(), batch, logits, beta_);
    return learner_->step((losses.trained + lambda_ * early_learning_term(t, bounded_softmax(logits))).mean());
  }

  /// The cosine begins anew every few epochs.
  double rate(const Step& step) const override {
    const Settings& settings = context().settings();
    if (cycle_ == 0 || settings.text("schedule") != "cosine") return Method::rate(step);
    return learning_rate(settings, std::fmod(step.time(), cycle_) / cycle_);
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }

  void collect(State& state) override {
    Method::collect(state);
    said_.collect(state, "said");
  }

 private:
  std::unique_ptr<Learner> learner_;
  TemporalEnsemble said_;
  double lambda_, beta_;
  int cycle_ = 0;
};

}  // namespace

at::Tensor bounded_softmax(const at::Tensor& logits) { return at::softmax(logits, 1).clamp(1e-4, 1 - 1e-4); }

at::Tensor ensembled(const at::Tensor& t, const at::Tensor& p, double beta) {
  return t * beta + p / p.sum(1, /*keepdim=*/true) * (1 - beta);
}

TemporalEnsemble::TemporalEnsemble(const Context& context)
    : rows_(at::zeros({static_cast<std::int64_t>(context.samples().size()), context.samples().classes},
                      context.device())) {}

at::Tensor TemporalEnsemble::follow(const Context& context, const TensorBatch& batch, const at::Tensor& logits,
                                    double beta) {
  const at::NoGradGuard no_grad;
  const at::Tensor rows = ensembled(rows_.index_select(0, batch.index), bounded_softmax(logits), beta);
  const at::Tensor known = context.trusted(batch.index).unsqueeze(1);
  const at::Tensor t = at::where(known, one_hot_rows(batch.labels, rows.size(1)), rows);
  rows_.index_copy_(0, batch.index, t);
  return t;
}

at::Tensor early_learning_term(const at::Tensor& t, const at::Tensor& p) { return (1 - (t * p).sum(1)).log(); }

MethodInfo elr_method() {
  constexpr std::string_view group = "ELR";
  return {.name = "elr",
          .description = "ELR: what the network said of a sample early on holds labels back that say something else",
          .year = 2020,
          .paper = "Early-Learning Regularization Prevents Memorization of Noisy Labels",
          .settings =
              {{"lambda", group, -1.0,
                "Weight of the regularisation; -1: 3, or 7 with 100 classes or more; 1 for asymmetric noise", -1, 1e4},
               {"beta", group, -1.0,
                "How slowly it forgets what the network said; -1: 0.7, or 0.9 with 100 classes or more; 0.9 for "
                "asymmetric noise",
                -1, 0.9999},
               {"restart-epochs", group, std::int64_t{0},
                "Epochs from one restart of the schedule to the next, where it is cosine; 0: a fifteenth of the run, "
                "and no restart with 100 classes or more",
                0, 1e6}},
          // With 100 classes the paper has the rate fall to a hundredth after 80 and again after 120 of 150 epochs.
          .defaults = {{"model", std::string("resnet34")},
                       {"epochs", std::int64_t{150}},
                       {"lr", 0.02},
                       {"min-lr", 1e-3},
                       {"weight-decay", 1e-3},
                       {"ema", 0.0}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Elr>(context); }};
}

}  // namespace regroup
