#include "regroup/train/loop.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <vector>

#include "regroup/core/error.h"

namespace regroup {
namespace {

/// Batches of all plans of a pass, side by side, from step `first` on.
class PassBatches {
 public:
  PassBatches(const Context& context, const Pass& pass, std::size_t first)
      : context_(context), batches_(pass.plans.size()) {
    for (const BatchPlan& plan : pass.plans) loaders_.push_back(context.make_loader(plan, first, pass.steps));
  }

  std::span<const TensorBatch> next() {
    for (std::size_t i = 0; i < loaders_.size(); ++i) batches_[i] = context_.to_device(*loaders_[i]->next());
    return batches_;
  }

  double waited() const {
    return std::accumulate(loaders_.begin(), loaders_.end(), 0.0,
                           [](double sum, const auto& loader) { return sum + loader->waited(); });
  }

 private:
  const Context& context_;
  std::vector<std::unique_ptr<Loader>> loaders_;
  std::vector<TensorBatch> batches_;
};

}  // namespace

bool train_epoch(Method& method, Context& context, Place& place, int epochs,
                 const std::function<bool(const StepDone&)>& done) {
  const int epoch = place.epoch;
  const bool begins = place.pass == 0 && place.step == 0;
  const bool holds = epoch < context.settings().integer("freeze-epochs");
  for (Learner* learner : method.learners()) learner->hold_loaded(holds);
  if (begins) method.begin_epoch(epoch);
  Phase& phase = method.phase(epoch);
  if (begins && &phase != &method) phase.begin_epoch(epoch);
  const std::vector<Pass> passes = phase.passes(epoch);
  if (place.pass > passes.size())
    throw UserError(fmt::format("pass {} of {} is next; the checkpoint is damaged", place.pass + 1, passes.size()));
  for (; place.pass < passes.size(); ++place.pass, place.step = 0) {
    const Pass& pass = passes[place.pass];
    if (place.step > pass.steps)
      throw UserError(fmt::format("step {} of {} is next; the checkpoint is damaged", place.step + 1, pass.steps));
    if (place.step == pass.steps) continue;
    PassBatches batches(context, pass, place.step);
    while (place.step < pass.steps) {
      const Step step{epoch, epochs, place.pass, place.step, pass.steps};
      const double waited = batches.waited();
      const auto batch = batches.next();
      if (place.step == 0) phase.begin_pass(step);
      const double rate = phase.rate(step);
      for (Learner* learner : method.learners()) learner->rate = rate;
      const double loss = phase.step(step, batch);
      ++place.step;
      if (!done({step, passes.size(), loss, batch.front().slots.size(), batches.waited() - waited})) return false;
    }
  }
  phase.end_epoch(epoch);
  context.end_epoch(epoch);
  return true;
}

}  // namespace regroup
