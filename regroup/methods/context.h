#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/data/loader.h"
#include "regroup/labels/prediction_book.h"
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
  at::Tensor index;               ///< the slots, on the device: rows of what a method keeps of each sample
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
  at::Device device() const { return device_; }
  const at::Tensor& labels() const { return labels_; }  ///< observed, by slot, on the device
  std::uint64_t seed() const { return seed_; }

  /// A network as configured, with its optimizer and ema. `member` tells several networks of one run apart: each starts
  /// from other weights.
  std::unique_ptr<Learner> make_learner(const std::string& name, std::uint32_t member = 0) const;

  /// A network of that kind by itself, whose weights are not learnt.
  std::unique_ptr<Network> make_network(std::uint32_t member = 0) const;

  /// The samples of these slots in random order, one view of each, augmented as configured.
  BatchPlan plan(std::span<const std::uint32_t> slots, int epoch, std::uint32_t stream = 0) const;

  /// The samples that an epoch trains on, by slot, ascending: all, or, with `epoch-batches`, as many as these hold,
  /// drawn anew for each epoch. A method sees no other samples in that epoch.
  std::vector<std::uint32_t> epoch_slots(int epoch) const;
  bool draws_epochs() const { return draws_epochs_; }  ///< whether an epoch has only a part of the samples
  BatchPlan plan_epoch(int epoch) const { return plan(epoch_slots(epoch), epoch); }

  /// What prepares batches `first` .. `end` - 1 of a plan. The context must outlive it.
  std::unique_ptr<Loader> make_loader(BatchPlan plan, std::size_t first, std::size_t end) const;
  TensorBatch to_device(const Batch& batch) const;

  /// The cross-entropy of each label, and the loss that is trained on: the same, or with smoothed labels.
  struct Losses {
    at::Tensor plain, trained;
  };
  Losses losses(const at::Tensor& logits, const at::Tensor& labels) const;

  /// The labels as distributions over the classes: one-hot, or smoothed as configured. What a loss would be for each
  /// class, times these, summed, is the loss that is trained on.
  at::Tensor targets(const at::Tensor& labels) const;

  /// Distributions over the classes, a row each, smoothed as configured.
  at::Tensor smoothed(const at::Tensor& rows) const;

  /// Slots as a tensor on the device.
  at::Tensor index_of(std::span<const std::uint32_t> slots) const;

  /// Whether somebody has verified the label, of each of these.
  at::Tensor trusted(const at::Tensor& index) const { return trusted_.index_select(0, index); }

  /// Step 1 of RML, what the run reports, and what the audit believes: the plain losses and the predictions of a batch
  /// are remembered.
  void record(const TensorBatch& batch, const at::Tensor& plain_losses, const at::Tensor& logits);

  /// The same for many samples at once; a row of log-probabilities each.
  void record(std::span<const std::uint32_t> slots, const at::Tensor& log_probabilities);

  /// The losses of all samples as the estimators of noise take them: those of `slots` as they were recorded last, and
  /// LossBook::unrecorded for the others.
  std::vector<float> recorded_losses(std::span<const std::uint32_t> slots) const;

  /// The observed labels of these samples.
  std::vector<std::int32_t> labels_of(std::span<const std::uint32_t> slots) const;

  /// What networks in evaluation make of `views` augmented views of each of these samples in an epoch, each by its mean
  /// over the views. All look at the same views; a network is asked only about samples whose label those before it
  /// predict, since the others are decided.
  struct Agreement {
    at::Tensor probabilities;          ///< of the first network, on the CPU, a row for each sample
    std::vector<std::int32_t> agrees;  ///< 1 where every network predicts the observed label, else 0
  };
  Agreement agreement(const std::vector<Network*>& networks, std::span<const std::uint32_t> slots, int epoch,
                      int views) const;

  /// The scores of one augmented view of each of these samples by a network in evaluation, on the CPU, with features.
  Scores score_view(Network& network, std::span<const std::uint32_t> slots, int epoch) const;

  /// Tells those who watch the run.
  std::function<void(const std::string&)> say = [](const std::string&) {};

  /// The scores of these samples by networks in evaluation, on the CPU, without augmentation.
  std::vector<Scores> score(const std::vector<Network*>& networks, std::span<const std::uint32_t> slots,
                            Wanted wanted = Wanted::logits) const;

  std::vector<std::uint32_t> all_slots() const;

  /// The same of the validation samples; not defined where there are none.
  at::Tensor validation_logits(Network& network) const;

  LossBook& book() { return book_; }
  const LossBook& book() const { return book_; }
  const std::vector<std::int32_t>& predicted() const { return predicted_; }
  const PredictionBook& predictions() const { return predictions_; }  ///< averaged over the epochs

  /// The share of wrong labels as the predictions after each epoch have shown it; not a number for epochs to come.
  const std::vector<float>& noise_rates() const { return noise_rates_; }

  /// That share by all epochs so far (labels/noise_rate_estimate.h); nothing before the first has ended.
  std::optional<double> noise_rate() const;

  /// Called when all passes of an epoch are done.
  void end_epoch(int epoch);

  void collect(State& state);

 private:
  std::unique_ptr<Network> make_network_from(std::uint32_t start) const;
  std::unique_ptr<Optimizer> make_optimizer(Network& network) const;
  ScoringOptions scoring() const;

  const Settings& settings_;
  TrainingSet samples_;
  at::Device device_;
  Precision precision_;
  int threads_;
  std::uint64_t seed_;
  std::size_t epoch_size_;  ///< samples that an epoch trains on
  bool draws_epochs_;
  at::Tensor labels_;   ///< observed, by slot, on the device
  at::Tensor trusted_;  ///< whether it is, by slot, on the device
  Augmenter augmenter_;
  Augmentation augmentation_;
  LossBook book_;
  std::vector<std::int32_t> predicted_;
  PredictionBook predictions_;
  std::vector<float> noise_rates_;
};

}  // namespace regroup
