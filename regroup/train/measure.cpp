#include "regroup/train/measure.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace regroup {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : std::nan(""); }

}  // namespace

Measurement::Measurement(const RunData& data, const Context& context, Method& method, EvaluationOptions evaluation)
    : data_(data),
      top5_(context.settings().flag("top5") && context.samples().classes > 5),
      context_(context),
      method_(method),
      evaluation_(std::move(evaluation)) {}

void Measurement::measure(bool accuracies, bool last, EpochMetrics& row) {
  const std::vector<std::uint32_t> slots = context_.epoch_slots(row.epoch - 1);
  row.add("train_loss", mean_loss(slots));
  measure_predictors(accuracies, last, row);
  measure_samples(slots, row);
  for (const Metric& metric : method_.metrics()) row.add(metric.name, metric.value);
  if (last) material_.final_losses = final_losses();
}

double Measurement::mean_loss(std::span<const std::uint32_t> slots) const {
  double loss = 0, recorded = 0;
  for (const std::uint32_t slot : slots) {
    const float value = context_.book().losses()[slot];
    if (value == LossBook::unrecorded) continue;
    loss += static_cast<double>(value);
    ++recorded;
  }
  return share(loss, recorded);
}

Measurement::Tested Measurement::tested(const TestSet& test) const {
  std::vector<std::uint32_t> all(test.set.size());
  std::iota(all.begin(), all.end(), 0U);
  const auto predictors = method_.predictors();
  const auto shares = probabilities(predictors, *test.set.source, all, evaluation_);
  Tested tested;
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    tested.predicted[predictors[i].name] = most_likely(shares[i]);
    if (top5_) tested.top5[predictors[i].name] = top_accuracy(shares[i], test.set.labels, 5);
  }
  return tested;
}

void Measurement::measure_predictors(bool accuracies, bool last, EpochMetrics& row) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto predictors = method_.predictors();
  std::vector<std::int32_t> labels;
  for (const std::uint32_t position : data_.split.validation) labels.push_back(data_.observed[position]);
  std::vector<at::Tensor> validated;
  if (accuracies && !labels.empty())
    validated = probabilities(predictors, *data_.dataset.train.source, data_.split.validation, evaluation_);
  std::map<std::string, Tested> found;
  for (const TestSet& test : data_.dataset.tests)
    if (accuracies && test.set.size() > 0) found[test.name] = tested(test);
  for (std::size_t i = 0; i < predictors.size(); ++i) {
    const std::string& name = predictors[i].name;
    row.add("val_" + name, validated.empty() ? none : accuracy(most_likely(validated[i]), labels));
    for (const TestSet& test : data_.dataset.tests) {
      const bool known = found.contains(test.name);
      row.add(fmt::format("{}_{}", test.name, name),
              known ? accuracy(found[test.name].predicted[name], test.set.labels) : none);
      if (top5_) row.add(fmt::format("{}_top5_{}", test.name, name), known ? found[test.name].top5[name] : none);
    }
  }
  if (!last) return;
  material_.test_predictions.clear();
  for (auto& [name, tested] : found) material_.test_predictions[name] = std::move(tested.predicted);
}

/// Weights, and wrong labels that the last training pass predicted, of right and of wrong labels where that is known.
void Measurement::measure_samples(std::span<const std::uint32_t> slots, EpochMetrics& row) const {
  const auto weights = method_.weights();
  double sums[2] = {}, counts[2] = {}, all = 0, memorised = 0;
  for (const std::uint32_t slot : slots) {
    const std::uint32_t position = context_.samples().positions[slot];
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[slot]);
    all += weight;
    if (!data_.is_right(position) && !data_.is_wrong(position)) continue;
    const bool wrong = data_.is_wrong(position);
    sums[wrong] += weight;
    ++counts[wrong];
    if (wrong && context_.predicted()[slot] == context_.samples().labels[slot]) ++memorised;
  }
  row.add("weight", all / static_cast<double>(slots.size()));
  row.add("weight_clean", share(sums[0], counts[0]));
  row.add("weight_noisy", share(sums[1], counts[1]));
  row.add("memorised", share(memorised, counts[1]));
  measure_split(row);
}

/// Of a method that takes labels for right or wrong: how well it does so, where the true labels are known.
void Measurement::measure_split(EpochMetrics& row) const {
  const auto labelled = method_.labelled();
  const auto guesses = method_.guesses();
  if (labelled.empty()) return;
  double right = 0, taken = 0, both = 0, guessed = 0, well = 0;
  for (std::size_t slot = 0; slot < labelled.size(); ++slot) {
    const std::uint32_t position = context_.samples().positions[slot];
    if (labelled[slot] < 0 || (!data_.is_right(position) && !data_.is_wrong(position))) continue;
    right += data_.is_right(position) ? 1 : 0;
    taken += labelled[slot];
    both += data_.is_right(position) ? labelled[slot] : 0;
    if (guesses.empty() || guesses[slot] < 0) continue;
    ++guessed;
    well += guesses[slot] == data_.clean[position] ? 1 : 0;
  }
  row.add("labelled_precision", share(both, taken));
  row.add("labelled_recall", share(both, right));
  row.add("guess_accuracy", share(well, guessed));
}

/// The losses and predictions of the last epoch's samples by the trained model, without augmentation. Where epochs are
/// drawn from very many samples, a look at all of them would take longer than many epochs.
FinalLosses Measurement::final_losses() const {
  FinalLosses final;
  final.slots = context_.epoch_slots(static_cast<int>(context_.settings().integer("epochs")) - 1);
  const at::Tensor logits = context_.score({&method_.learners().front()->model()}, final.slots).front().logits;
  const at::Tensor labels = at::tensor(context_.labels_of(final.slots), at::kInt).to(at::kLong);
  const at::Tensor losses = -at::log_softmax(logits, 1).gather(1, labels.unsqueeze(1)).squeeze(1).contiguous();
  final.losses.assign(losses.data_ptr<float>(), losses.data_ptr<float>() + losses.numel());
  final.predicted = most_likely(logits);
  return final;
}

RunSummary Measurement::summary(const std::vector<EpochMetrics>& rows, const std::string& primary) {
  RunSummary summary;
  // A run that is resumed after its last epoch has not seen what that epoch found.
  if (material_.final_losses.predicted.empty()) material_.final_losses = final_losses();
  for (const TestSet& test : data_.dataset.tests) {
    auto& summaries = test.name == "test" ? summary.predictors : summary.more_tests[test.name];
    for (const Predictor& predictor : method_.predictors())
      summaries[predictor.name] = summarise(rows, predictor.name, test.name);
    Predictions& known = material_.test_predictions[test.name];
    if (test.set.size() > 0 && known.empty()) known = tested(test).predicted;
  }
  summary.primary = primary;
  summary.noise_rate = data_.noise_rate();
  summary.memorised = memorised_share(data_, material_.final_losses);
  return summary;
}

}  // namespace regroup
