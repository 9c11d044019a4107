#include "regroup/methods/sop.h"

#include <ATen/ATen.h>

#include <limits>

#include "regroup/methods/mixing.h"
#include "regroup/methods/soft_labels.h"

namespace regroup {
namespace {

constexpr double start_deviation = 1e-8, paper_batch = 128;

class Sop : public Method {
 public:
  explicit Sop(Context& context) : Method(context), learner_(context.make_learner("model")), labels_(context, 1) {
    const Settings& settings = context.settings();
    const bool few = context.samples().classes < 100;
    u_rate_ = settings.number("u-rate");
    if (u_rate_ == -1) u_rate_ = few ? 10 : 1;
    v_rate_ = settings.number("v-rate");
    const auto samples = static_cast<std::int64_t>(context.samples().size());
    u_ = start_rows(samples, 1, 0);
    v_ = start_rows(samples, context.samples().classes, 1);
  }

  /// L = CE(y, p + s) + |onehot(argmax p) + s - y|^2. The network alone predicts.
  double step(const Step& /*step*/, std::span<const TensorBatch> batches) override {
    const TensorBatch& batch = batches.front();
    const at::Tensor logits = learner_->forward(batch.views.front()).logits;
    context().record(batch, context().losses(logits, batch.labels).plain, logits);
    const at::Tensor y = one_hot_rows(batch.labels, context().samples().classes);
    at::Tensor u = u_.index_select(0, batch.index), v = v_.index_select(0, batch.index);
    u.requires_grad_(true);
    v.requires_grad_(true);
    const LabelOffset s = label_offset(u, v, y);
    const at::Tensor loss = offset_cross_entropy(logits, s, context().smoothed(y)) + offset_error(logits, s, y);
    const double value = learner_->step(loss.mean());
    descend(u_, u.grad(), batch, u_rate_);
    descend(v_, v.grad(), batch, v_rate_);
    return value;
  }

  /// What is left of a label is y - s.
  void end_epoch(int /*epoch*/) override {
    const at::Tensor labels = at::tensor(context().samples().labels, at::kInt).to(context().device(), at::kLong);
    const at::Tensor y = one_hot_rows(labels, context().samples().classes);
    const LabelOffset s = label_offset(u_, v_, y);
    labels_.rows().copy_(y - s.own + s.others);
    labels_.look(context());
    wrong_ = s.own.sum().item<double>();
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return labels_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return labels_.guesses(); }
  std::vector<Metric> metrics() const override {
    return {{"labels_changed", labels_.changed()}, {"labels_taken_for_wrong", wrong_}};
  }

  void collect(State& state) override {
    Method::collect(state);
    state.add("u", u_, {-1e30, 1e30});
    state.add("v", v_, {-1e30, 1e30});
  }

 private:
  /// Numbers from N(0, start_deviation^2), the keys being those of a network that no run has.
  at::Tensor start_rows(std::int64_t samples, std::int64_t columns, std::uint32_t index) const {
    Stream random(context().seed(), Purpose::weights, std::numeric_limits<std::uint32_t>::max(), index);
    const at::Tensor rows = at::empty({samples, columns}, at::kFloat);
    for (std::int64_t i = 0; i < rows.numel(); ++i)
      rows.data_ptr<float>()[i] = static_cast<float>(random.normal() * start_deviation);
    return rows.to(context().device());
  }

  /// Plain gradient descent. The mean over a batch makes a sample's step the smaller the larger the batch is: this is
  /// the step of the paper's batches.
  void descend(at::Tensor& rows, const at::Tensor& gradient, const TensorBatch& batch, double rate) const {
    const double step = rate * static_cast<double>(batch.slots.size()) / paper_batch;
    const at::Tensor free = context().trusted(batch.index).logical_not().unsqueeze(1);
    rows.index_add_(0, batch.index, gradient * free * -step);
  }

  std::unique_ptr<Learner> learner_;
  SoftLabels labels_;
  at::Tensor u_, v_;
  double u_rate_, v_rate_;
  double wrong_ = 0;  ///< the sum of u^2
};

}  // namespace

LabelOffset label_offset(const at::Tensor& u, const at::Tensor& v, const at::Tensor& labels) {
  return {(u.square() * labels).clamp(0, 1), (v.square() * (1 - labels)).clamp(0, 1)};
}

at::Tensor offset_cross_entropy(const at::Tensor& logits, const LabelOffset& s, const at::Tensor& targets) {
  const at::Tensor q = (at::softmax(logits, 1) + s.own - s.others.detach()).clamp_min(1e-4);
  return -(targets * (q / q.sum(1, /*keepdim=*/true)).log()).sum(1);
}

at::Tensor offset_error(const at::Tensor& logits, const LabelOffset& s, const at::Tensor& labels) {
  const at::Tensor predicted = one_hot_rows(logits.argmax(1), logits.size(1));
  return (predicted + s.own - s.others - labels).square().sum(1);
}

MethodInfo sop_method() {
  constexpr std::string_view group = "SOP";
  return {.name = "sop",
          .description = "SOP: each sample learns what is wrong with its label, beside the network",
          .year = 2022,
          .paper = "Robust Training under Label Noise by Over-parameterization",
          .settings = {{"u-rate", group, -1.0,
                        "Learning rate of what a label has too much, for batches of 128; -1: 10, or 1 with 100 classes "
                        "or more",
                        -1, 1e9},
                       {"v-rate", group, 10.0,
                        "Learning rate of what other classes have too little, for batches of 128; 100 for asymmetric "
                        "noise in 100 classes",
                        0, 1e9}},
          .defaults = {{"model", std::string("resnet34")},
                       {"epochs", std::int64_t{120}},
                       {"lr", 0.02},
                       {"schedule", std::string("steps")},
                       {"lr-steps", std::string("0.3333, 0.6667")},
                       {"ema", 0.0}},
          // So that u and v get as far in 16 epochs as in the 120 of the paper.
          .recipes = {{"fast", {{"u-rate", 75.0}, {"v-rate", 75.0}}}},
          .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<Sop>(context); }};
}

}  // namespace regroup
