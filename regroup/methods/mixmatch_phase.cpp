#include "regroup/methods/mixmatch_phase.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regroup/methods/mixing.h"

namespace regroup {
namespace {

constexpr float most_class_weight = 3;

}  // namespace

MixMatchPhase::MixMatchPhase(Context& context, Learner& learner, Options options)
    : Phase(context),
      learner_(learner),
      options_(std::move(options)),
      labelled_(context.samples().size(), -1),
      guesses_(context.samples().size(), -1) {}

void MixMatchPhase::split(int epoch) {
  total_.begin_epoch();
  const TrainingSet& samples = context().samples();
  const std::vector<std::uint32_t> slots = context().epoch_slots(epoch);
  const Context::Agreement agreement = context().agreement(options_.judges, slots, epoch, views);
  context().record(slots, agreement.probabilities.clamp_min(1e-12).log());
  mark_agreeing(agreement.agrees, slots, context(), labelled_);
  std::fill(guesses_.begin(), guesses_.end(), -1);
  std::vector<bool> has_label(static_cast<std::size_t>(samples.classes));
  for (const std::uint32_t slot : slots) {
    guesses_[slot] = labelled_[slot] == 1 ? -1 : context().predicted()[slot];
    if (labelled_[slot] == 1) has_label[static_cast<std::size_t>(samples.labels[slot])] = true;
  }
  const auto without = std::count(has_label.begin(), has_label.end(), false);
  if (without > 0 && has_labels())
    context().say(fmt::format("epoch {}: {} of {} classes have no labelled sample; their images are guessed", epoch + 1,
                              without, samples.classes));
  if (count() == slots.size())
    context().say(fmt::format("epoch {}: every label agrees with what is predicted; none is guessed", epoch + 1));
}

std::vector<Pass> MixMatchPhase::passes(int epoch) const {
  const auto size = static_cast<int>(context().settings().integer("batch-size"));
  const auto unlabelled = static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 0));
  const BatchShare share = share_batch(size, count(), unlabelled);
  const std::size_t steps = (count() + unlabelled) / static_cast<std::size_t>(size);
  return {{split_plans(context(), labelled_, share, epoch), std::max<std::size_t>(1, steps)}};
}

void MixMatchPhase::begin_pass(const Step& /*first*/) { class_weights_ = at::Tensor(); }

double MixMatchPhase::rate(const Step& step) const {
  return options_.own_rate > 0 ? options_.own_rate : Phase::rate(step);
}

double MixMatchPhase::step(const Step& step, std::span<const TensorBatch> batches) {
  const Settings& settings = context().settings();
  const TrainingSet& samples = context().samples();
  const TensorBatch* const unlabelled = batches.size() > 1 ? &batches[1] : nullptr;
  const at::Tensor guess = unlabelled != nullptr
                               ? sharpened(view_mean(learner_, *unlabelled), settings.number("temperature"))
                               : at::Tensor();
  const double alpha = settings.number(2 * step.epoch >= step.epochs ? "mix-alpha-late" : "mix-alpha");
  Stream random = mixing_stream(context().seed(), step);
  const MixedBatch batch = mix_sets(batches.front(), one_hot_rows(batches.front().labels, samples.classes), unlabelled,
                                    guess, alpha, random);
  if (!class_weights_.defined())
    class_weights_ = at::tensor(class_weights(samples.labels, labelled_, samples.classes, most_class_weight))
                         .to(batch.images.device());
  const auto losses = mixmatch_losses(learner_.forward(batch.images).logits, batch, class_weights_);
  const double ramped = ramp(step.time(), options_.start, options_.ramp_epochs);
  return learner_.step(total_.of(losses, options_.lambda_u, ramped));
}

void MixMatchPhase::collect(State& state) {
  state.add("labelled", labelled_, {-1, 1});
  state.add("guesses", guesses_, {-1, context().samples().classes - 1.0});
  total_.collect(state);
}

std::size_t MixMatchPhase::count() const {
  return static_cast<std::size_t>(std::count(labelled_.begin(), labelled_.end(), 1));
}

}  // namespace regroup
