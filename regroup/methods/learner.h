#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/methods/state.h"
#include "regroup/nn/network.h"
#include "regroup/nn/optimizer.h"
#include "regroup/nn/precision.h"

namespace regroup {

struct LearnerOptions {
  double ema = 0.999;  ///< lambda of the ema; 0: there is none
  at::Device device = at::kCPU;
  Precision precision = Precision::fp32;
  double loaded_rate = 1;        ///< the learning rate of what was loaded, as a share of the others'
  bool keep_statistics = false;  ///< batch statistics stay as they were loaded, where all but the classifier was
};

/// Makes a network of one kind; each `start` gives other weights to begin with.
using MakeNetwork = std::function<std::unique_ptr<Network>(std::uint32_t start)>;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(Network& network)>;

/// A network that learns: its optimizer, and its ema, the momentum model of the paper (step 7 of RML).
class Learner {
 public:
  Learner(std::string name, MakeNetwork make, const MakeOptimizer& optimizer, LearnerOptions options);

  /// Scores images as the network trains: with batch statistics, unless those that were loaded are kept, in the run's
  /// precision, keeping what gradients need.
  Scores forward(const at::Tensor& images);

  /// Scores images as in evaluation, without gradients.
  Scores forward_in_evaluation(const at::Tensor& images);

  /// What the ema makes of images, without gradients; the network, in evaluation, where there is none.
  Scores forward_ema(const at::Tensor& images);

  /// One step down the gradient of `loss`, whose value is returned. The ema follows: theta' <- lambda theta' + (1 -
  /// lambda) theta with lambda = min(ema, (1 + t) / (10 + t)) at step t, so that short runs have one too. A loss that
  /// is not finite is a UserError, and changes nothing.
  double step(const at::Tensor& loss);

  /// Adds the gradient of a loss to that of the next step, and returns the value of the loss, which must be finite.
  /// With `keep_graph`, other losses of the same scores may follow.
  double add_gradient(const at::Tensor& loss, bool keep_graph = false);

  /// Layers whose names begin with `prefix` (all: "") begin anew, from other weights each time, in the network and in
  /// its ema, and the optimizers forget them. What was added stays as it is.
  void restart(std::string_view prefix);

  /// What is loaded is remembered, and is what the network begins anew from, but for its classifier. To be called
  /// before collect().
  void keep_start();

  /// The network and its ema become copies of another of the same kind, and the optimizers forget. What was added
  /// stays as it is.
  void become(const Network& other);

  /// The ema begins anew, from the network as it is.
  void restart_ema();

  /// Whether layers whose names begin with `prefix` stay as they are in the steps that follow. Their batch statistics
  /// are followed all the same.
  void freeze(std::string_view prefix, bool frozen = true);

  /// Says which parameters the network has from elsewhere, in the network and in its ema. The classifier counts as new,
  /// wherever it is from, and what restarts does from then on.
  void set_loaded(const std::set<std::string>& names);

  /// Whether what was loaded stays as it is in the steps that follow, whatever freeze says. Where only the classifier
  /// is new, the batch statistics stay, too: it learns from what the loaded network makes of images in evaluation.
  void hold_loaded(bool held);

  /// A tensor that is learnt beside the network and saved with it: a projection head, a matrix. To be called before the
  /// first step and before collect().
  at::Tensor add(const std::string& name, const at::Tensor& start);

  /// Another optimizer beside the configured one (`main`), for a phase; see use(). To be called before collect().
  void add_optimizer(const std::string& name, const MakeOptimizer& make);

  /// The optimizer of this name takes the steps that follow.
  void use(std::string_view optimizer);
  Optimizer& optimizer() { return *optimizers_[static_cast<std::size_t>(current_)].second; }

  /// The learning rate of the next step; the trainer sets it.
  double rate = 0;

  /// The lambda of the ema in the next step, where it is not the one above.
  std::optional<double> ema_decay;

  /// `most`, or less in the first steps: min(most, (1 + t) / (10 + t)).
  double warming_decay(double most) const;

  /// Where the gradient of all parameters is longer, a step makes it as long as this; 0: never.
  double largest_gradient = 0;

  const std::string& name() const { return name_; }
  Network& model() { return *model_; }
  Network* ema() { return ema_.get(); }

  /// What a step remembers beside the networks, which are saved as files of their own.
  void collect(State& state);

  /// To be called when a saved state was filled in.
  void restored();

 private:
  void set_what_learns();
  void shorten_gradient();

  std::string name_;
  MakeNetwork make_;
  LearnerOptions options_;
  std::unique_ptr<Network> model_, ema_;
  std::unique_ptr<Network> start_;  ///< what was loaded, where it is kept
  std::vector<std::pair<std::string, std::unique_ptr<Optimizer>>> optimizers_;
  std::vector<double> rates_;         ///< of each parameter of the network, as it was made
  std::vector<std::int32_t> frozen_;  ///< of each parameter, 1: it stays as it is
  std::vector<std::int32_t> loaded_;  ///< of each parameter, 1: it is from elsewhere and not of the classifier
  bool held_ = false;                 ///< what is loaded; follows from the epoch
  bool body_loaded_ = false;          ///< all but the classifier
  std::int64_t steps_ = 0, restarts_ = 0, current_ = 0;
};

}  // namespace regroup
