#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/methods/context.h"

namespace regroup {

/// Somebody who predicts: one network, or the mean of several.
struct Predictor {
  std::string name;
  std::vector<Network*> networks;
};

/// Where a run is.
struct Progress {
  int epoch = 0, epochs = 0;
  std::size_t step = 0, steps = 0;  ///< of this epoch

  /// The share of the run that is done.
  double share() const {
    return (static_cast<double>(epoch) + static_cast<double>(step) / static_cast<double>(steps)) / epochs;
  }
};

/// A figure of an epoch that a method adds to the run's own.
struct Metric {
  std::string name;
  double value;
};

/// A way of learning from labels that are partly wrong. The trainer calls, epoch by epoch: begin_epoch, plan, then step
/// for every batch, end_epoch. A run may be stopped and resumed before any step: then a new object gets the collected
/// state back, and plan is called, but not begin_epoch. So what begin_epoch decides is state, and plan follows from it.
class Method {
 public:
  explicit Method(Context& context) : context_(context) {}
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  virtual void begin_epoch(int /*epoch*/) {}

  /// What the batches of this epoch are made of; each step gets one batch of each plan.
  virtual std::vector<BatchPlan> plan(int epoch) const { return {context_.plan_all(epoch)}; }
  virtual std::size_t steps(const std::vector<BatchPlan>& plans) const { return plans.front().batches(); }

  virtual void step(std::span<const TensorBatch> batches) = 0;
  virtual void end_epoch(int /*epoch*/) {}

  /// Called before each step.
  virtual void set_rate(const Progress& progress);

  virtual std::vector<Learner*> learners() = 0;

  /// The networks of the learners and their momentum models under the names of their files: `model` and `ema`.
  std::vector<std::pair<std::string, Network*>> networks();

  /// By default each network by itself.
  virtual std::vector<Predictor> predictors();

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

  /// By default the learners.
  virtual void collect(State& state);

 protected:
  Context& context() { return context_; }
  const Context& context() const { return context_; }

 private:
  Context& context_;
};

struct MethodInfo {
  std::string_view name;
  std::string_view description;
  std::vector<SettingInfo> settings;                                ///< of its own
  std::vector<std::pair<std::string_view, SettingValue>> defaults;  ///< for settings that every run has

  /// The predictor that picks the best checkpoint and that users get.
  std::string (*primary)(const Settings& settings);
  std::unique_ptr<Method> (*make)(Context& context);
};

/// All methods.
std::span<const MethodInfo> methods();

/// A method by name. Throws UserError that lists the known ones.
const MethodInfo& method_named(std::string_view name);

}  // namespace regroup
