#include "regroup/methods/pes_semi.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "regroup/methods/mixmatch_phase.h"
#include "regroup/methods/refinement.h"
#include "regroup/methods/schedule.h"

namespace regroup {
namespace {

constexpr double paper_epochs = 300, paper_ramp = 16;

/// Cross-entropy; then the classifier alone, anew, while what lies before it stays; then MixMatch, labelled being the
/// samples whose label the network predicts. The published code leaves the new classifier out of its optimizer, so that
/// it stays as it was refined; the paper trains the whole network, and so do we.
class PesSemi : public Method {
 public:
  explicit PesSemi(Context& context)
      : Method(context),
        learner_(context.make_learner("model")),
        early_epochs_(
            phase_epochs(context.settings(), "early-epochs", context.samples().classes < 100 ? 20 : 35, paper_epochs)),
        early_(context, *learner_),
        refinement_(
            context, *learner_,
            {{.last_parts = 1, .passes = phase_epochs(context.settings(), "classifier-epochs", 5, paper_epochs)}}),
        semi_(context, *learner_, last_phase(context)) {}

  /// Only the refinement leaves layers as they are. An epoch in which no sample keeps its label goes by cross-entropy.
  void begin_epoch(int epoch) override {
    learner_->freeze("", false);
    learner_->use("main");
    if (epoch <= early_epochs_) return;
    semi_.split(epoch);
    if (!semi_.has_labels())
      context().say(fmt::format("epoch {}: no label is predicted; this epoch goes by cross-entropy", epoch + 1));
  }

  Phase& phase(int epoch) override {
    if (epoch < early_epochs_) return early_;
    if (epoch == early_epochs_) return refinement_;
    if (semi_.has_labels()) return semi_;
    return early_;
  }

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const std::int32_t> labelled() const override { return semi_.labelled(); }
  std::span<const std::int32_t> guesses() const override { return semi_.guesses(); }
  std::vector<Metric> metrics() const override { return semi_.metrics(); }
  double batches_held() const override { return MixMatchPhase::views; }

  void collect(State& state) override {
    Method::collect(state);
    semi_.collect(state);
  }

 private:
  MixMatchPhase::Options last_phase(const Context& context) {
    const Settings& settings = context.settings();
    MixMatchPhase::Options options{.judges = {&learner_->model()},
                                   .start = early_epochs_ + 1.0,
                                   .ramp_epochs = static_cast<double>(settings.integer("ramp-epochs")),
                                   .lambda_u = settings.number("lambda-u")};
    if (options.ramp_epochs == 0)
      options.ramp_epochs = paper_ramp / paper_epochs * static_cast<double>(settings.integer("epochs"));
    // As in the commands that were published with the code, of which there is one for each of the two.
    if (options.lambda_u < 0) options.lambda_u = context.samples().classes < 100 ? 15 : 50;
    return options;
  }

  std::unique_ptr<Learner> learner_;
  int early_epochs_;
  EarlyPhase early_;
  RefinementPhase refinement_;
  MixMatchPhase semi_;
};

}  // namespace

MethodInfo pes_semi_method() {
  constexpr std::string_view group = "PES-Semi";
  return {
      .name = "pes-semi",
      .description = "PES-Semi: the classifier's training stops sooner; then labels that it disagrees with are guessed",
      .year = 2021,
      .paper = "Understanding and Improving Early Stopping for Learning with Noisy Labels",
      .settings = {{"early-epochs", group, std::int64_t{0},
                    "Epochs of cross-entropy before the refinement; 0: 7 % of the run, 12 % with 100 classes or more",
                    0, 1e6},
                   {"classifier-epochs", group, std::int64_t{0},
                    "Passes over the data that then train the classifier anew; 0: 1.7 % of the run's epochs", 0, 1000},
                   {"refine-lr", group, 1e-4, "Learning rate of Adam in these passes", 1e-12, 10},
                   {"lambda-u", group, -1.0,
                    "Weight of the loss of samples whose labels are guessed; -1: 15, or 50 with 100 classes or more",
                    -1, 1e4},
                   {"ramp-epochs", group, std::int64_t{0},
                    "Epochs in which lambda-u rises from 0, after the refinement; 0: 5 % of the run", 0, 1e6},
                   {"temperature", group, 0.5,
                    "Temperature that sharpens guessed labels; the lower, the more certain they become", 0.01, 10},
                   {"mix-alpha", group, 4.0,
                    "MixUp in the first half of the run: mixing shares come from Beta(alpha, alpha)", 0.01, 1000},
                   {"mix-alpha-late", group, 0.75,
                    "MixUp in the second half of the run: mixing shares come from Beta(alpha, alpha)", 0.01, 1000}},
      .defaults = {{"model", std::string("preact-resnet18")},
                   {"epochs", std::int64_t{300}},
                   {"lr", 0.02},
                   {"min-lr", 0.0},
                   {"ema", 0.0}},
      // So few steps at the published rate teach a new layer nothing, and a network of one epoch cannot tell right
      // labels from wrong ones.
      .recipes = {{"fast",
                   {{"early-epochs", std::int64_t{8}}, {"classifier-epochs", std::int64_t{2}}, {"refine-lr", 3e-3}}}},
      .needs_images = true,
      .semi_supervised = true,
      .make = [](Context& context) -> std::unique_ptr<Method> { return std::make_unique<PesSemi>(context); }};
}

}  // namespace regroup
