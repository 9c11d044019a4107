#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/methods/context.h"
#include "regroup/methods/predictor.h"

namespace regroup {

/// Where a step is in its run.
struct Step {
  int epoch = 0, epochs = 1;
  std::size_t pass = 0;            ///< of this epoch
  std::size_t number = 0, of = 1;  ///< of this pass

  /// Epochs that are done, with the part of this one: each pass is an epoch of what it trains.
  double time() const { return epoch + static_cast<double>(number) / static_cast<double>(of); }

  /// The share of the run that is done.
  double share() const { return time() / epochs; }
};

/// A turn through some batches: each step gets one batch of each plan.
struct Pass {
  std::vector<BatchPlan> plans;
  std::size_t steps = 0;
};

/// A figure of an epoch that a method adds to the run's own.
struct Metric {
  std::string name;
  double value;
};

/// A way to train in an epoch. For each epoch the loop calls begin_epoch, passes, then for each pass begin_pass and its
/// steps, and end_epoch. A run may be stopped and resumed before any step: then a new object gets the collected state
/// back, and passes is called, but not begin_epoch, and begin_pass only where the pass has not begun. So what these
/// decide is state, and passes follows from it.
class Phase {
 public:
  explicit Phase(Context& context) : context_(context) {}
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  virtual ~Phase() = default;

  virtual void begin_epoch(int /*epoch*/) {}

  /// What the epoch consists of; by default one pass over its samples.
  virtual std::vector<Pass> passes(int epoch) const;

  virtual void begin_pass(const Step& /*first*/) {}

  /// The loss of the batch is returned.
  virtual double step(const Step& step, std::span<const TensorBatch> batches) = 0;
  virtual void end_epoch(int /*epoch*/) {}

  /// The learning rate of a step; by default as configured.
  virtual double rate(const Step& step) const;

  /// The epochs that the configured schedule of the learning rate is for, from `schedule_begin` on; 0: all that are
  /// left of the run.
  int schedule_begin = 0, schedule_epochs = 0;

 protected:
  Context& context() { return context_; }
  const Context& context() const { return context_; }

  /// A plan whose batches are taken until every sample had its turn.
  static Pass whole(BatchPlan plan);

 private:
  Context& context_;
};

/// A way of learning from labels that are partly wrong. One that trains in one way is its own phase; one that changes
/// its way has a phase for each, and its own begin_epoch is called before that of the phase.
class Method : public Phase {
 public:
  using Phase::Phase;

  /// How an epoch is trained. Follows from the epoch and the collected state.
  virtual Phase& phase(int /*epoch*/) { return *this; }

  double step(const Step& /*step*/, std::span<const TensorBatch> /*batches*/) override;

  virtual std::vector<Learner*> learners() = 0;

  /// The networks of the learners and their emas under the names of their files: `model` and `ema`.
  std::vector<std::pair<std::string, Network*>> networks();

  /// By default each network by itself.
  virtual std::vector<Predictor> predictors();

  /// The predictor that picks the best checkpoint and that users get. By default the first learner's network.
  virtual std::string primary() { return learners().front()->name(); }

  /// The weight that each sample has in this epoch, by slot; empty where the method has none.
  virtual std::span<const float> weights() const { return {}; }

  /// Which samples keep their label in this epoch, by slot: 1, 0, or -1 where the method has not decided; empty for a
  /// method that never does.
  virtual std::span<const std::int32_t> labelled() const { return {}; }

  /// The label that the method gives to a sample instead of its own, by slot; -1: it has none of its own.
  virtual std::span<const std::int32_t> guesses() const { return {}; }

  /// Seconds spent so far on the method's own bookkeeping, beside the networks.
  virtual double own_seconds() const { return 0; }

  /// Figures of the epoch that just ended. Always the same names.
  virtual std::vector<Metric> metrics() const { return {}; }

  /// How many batches' worth of images a step keeps in memory at most, for all networks together.
  virtual double batches_held() const { return 1; }

  /// By default the learners.
  virtual void collect(State& state);

  /// Called when a saved state was filled in.
  void restored();
};

struct MethodInfo {
  using Values = std::vector<std::pair<std::string_view, SettingValue>>;

  /// What a method has instead of a recipe's values.
  struct RecipeValues {
    std::string_view recipe;
    Values values;
  };

  std::string_view name;
  std::string_view description;
  int year = 0;                            ///< of publication
  std::string_view paper = {};             ///< its title
  std::vector<SettingInfo> settings = {};  ///< of its own; another method's of the same name is another setting
  Values defaults = {};                    ///< for settings that every run has; a recipe is stronger
  std::vector<RecipeValues> recipes = {};  ///< where a recipe must be another for this method
  bool needs_images = false;               ///< it learns from views of an image that differ; vectors have none
  int networks = 1;                        ///< that it trains
  bool semi_supervised = false;            ///< labels that it does not believe are dropped, their samples are not

  std::unique_ptr<Method> (*make)(Context& context);
};

/// All methods.
std::span<const MethodInfo> methods();

/// A method by name. Throws UserError that lists the known ones.
const MethodInfo& method_named(std::string_view name);

}  // namespace regroup
