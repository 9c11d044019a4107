#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/data/loader.h"
#include "regroup/methods/learner.h"
#include "regroup/methods/scoring.h"
#include "regroup/methods/training_set.h"
#include "regroup/rml/loss_book.h"

namespace regroup {

/// A batch on the device.
struct TensorBatch {
  std::vector<std::uint32_t> slots;
  std::vector<at::Tensor> views;  ///< images, one tensor per view
  at::Tensor labels;              ///< observed
};

/// The threads that prepare batches of a source, as configured.
int loading_threads(const Settings& settings, const SampleSource& source);

/// What a method is handed: the samples, the settings, and the tools to make networks and to score the samples.
class Context {
 public:
  Context(const Settings& settings, TrainingSet samples, at::Device device, Precision precision, int threads);

  const Settings& settings() const { return settings_; }
  const TrainingSet& samples() const { return samples_; }
  int threads() const { return threads_; }
  std::uint64_t seed() const { return seed_; }

  /// A network as configured, with its optimizer and ema. `member` tells several networks of one run apart: each starts
  /// from other weights.
  std::unique_ptr<Learner> make_learner(const std::string& name, std::uint32_t member = 0) const;

  /// The samples of these slots in random order, one view of each, augmented as configured.
  BatchPlan plan(std::span<const std::uint32_t> slots, int epoch, std::uint32_t stream = 0) const;
  BatchPlan plan_all(int epoch) const;

  /// What prepares batches `first` .. `end` - 1 of a plan. The context must outlive it.
  std::unique_ptr<Loader> make_loader(BatchPlan plan, std::size_t first, std::size_t end) const;
  TensorBatch to_device(const Batch& batch) const;

  /// The cross-entropy of each label, and the loss that is trained on: the same, or with smoothed labels.
  struct Losses {
    at::Tensor plain, trained;
  };
  Losses losses(const at::Tensor& logits, const at::Tensor& labels) const;

  /// Step 1 of RML, and what the run reports: the plain losses and the predicted labels of a batch are remembered.
  void record(const TensorBatch& batch, const at::Tensor& plain_losses, const at::Tensor& logits);

  /// The same for all samples at once; a row of log-probabilities each.
  void record_all(const at::Tensor& log_probabilities);

  /// What networks in evaluation make of `views` augmented views of every sample in an epoch: for each network the mean
  /// probabilities, on the CPU. All look at the same views.
  std::vector<at::Tensor> view_probabilities(const std::vector<Network*>& networks, int epoch, int views) const;

  /// Tells those who watch the run.
  std::function<void(const std::string&)> say = [](const std::string&) {};

  /// The scores of all samples by networks in evaluation, on the CPU, without augmentation.
  std::vector<Scores> score(const std::vector<Network*>& networks, Wanted wanted = Wanted::logits) const;

  LossBook& book() { return book_; }
  const LossBook& book() const { return book_; }
  const std::vector<std::int32_t>& predicted() const { return predicted_; }

  void collect(State& state);

 private:
  std::unique_ptr<Optimizer> make_optimizer(Network& network) const;
  std::vector<std::uint32_t> all_slots() const;
  ScoringOptions scoring() const;

  const Settings& settings_;
  TrainingSet samples_;
  at::Device device_;
  Precision precision_;
  int threads_;
  std::uint64_t seed_;
  at::Tensor labels_;  ///< observed, by slot, on the device
  Augmenter augmenter_;
  Augmentation augmentation_;
  LossBook book_;
  std::vector<std::int32_t> predicted_;
};

}  // namespace regroup
