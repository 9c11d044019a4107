#include "regroup/train/audit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regroup/audit/duplicates.h"
#include "regroup/audit/evidence.h"
#include "regroup/audit/none_of_these.h"

namespace regroup {
namespace {

/// Probabilities below this are luck.
constexpr float least = 1e-7F;

/// The log-probabilities of the last predictions, and, where the sample has a history, the mean of both. A network's
/// last word knows most; the mean over the epochs is the less swayed by the label that it was trained on. Together they
/// rank wrong labels better than either.
void read_scores(const PredictionBook& last, const PredictionBook* history, std::size_t sample, std::span<float> row) {
  last.read(sample, row);
  for (float& p : row) p = std::log(std::max(p, least));
  if (history == nullptr || history->turns(sample) == 0) return;
  thread_local std::vector<float> mean;
  mean.resize(row.size());
  history->read(sample, mean);
  for (std::size_t y = 0; y < row.size(); ++y) row[y] = (row[y] + std::log(std::max(mean[y], least))) / 2;
}

/// Adds the length of each sample's features, where these are known.
void add_lengths(const ScoredSamples& scored, std::vector<float>& lengths) {
  for (std::size_t i = 0; i < scored.positions.size() && !scored.features.empty(); ++i) {
    double squares = 0;
    for (const float value : std::span(scored.features).subspan(i * scored.dimension, scored.dimension))
      squares += static_cast<double>(value) * static_cast<double>(value);
    lengths.push_back(static_cast<float>(std::sqrt(squares)));
  }
}

void add_samples(Audit& audit, const ScoredSamples& scored, const std::string& part, const LabelledSet& set,
                 bool listed) {
  audit.parts.push_back(part);
  for (std::size_t i = 0; i < scored.positions.size(); ++i) {
    AuditedSample sample;
    sample.index = scored.positions[i];
    sample.part = static_cast<std::uint8_t>(audit.parts.size() - 1);
    sample.given = scored.last.labels()[i];
    sample.listed = listed;
    if (!set.paths.empty()) sample.path = set.paths[sample.index];
    if (!set.texts.empty()) sample.text = set.texts[sample.index];
    audit.samples.push_back(sample);
  }
}

void take_beliefs(Audit& audit, const std::string& name, std::size_t first, Beliefs beliefs,
                  const std::vector<float>& feature_lengths) {
  const std::vector<float> none = none_of_these(beliefs.samples, feature_lengths);
  for (std::size_t i = 0; i < beliefs.samples.size(); ++i) {
    audit.samples[first + i].belief = beliefs.samples[i];
    audit.samples[first + i].none_of_these = none[i];
  }
  audit.labels.push_back({name, std::move(beliefs), first});
}

/// Training and validation labels, which have the same origin.
void judge_learnt(const RunPredictions& run, AuditPart part, int threads, Audit& audit) {
  const RunData& data = run.data;
  const LabelledSet& set = data.dataset.train;
  const bool all = part == AuditPart::all;
  add_samples(audit, run.train, "train", set, all || part == AuditPart::train);
  add_samples(audit, run.validation, "val", set, all || part == AuditPart::validation);
  const std::size_t trained = run.train.positions.size(), count = audit.samples.size();
  std::vector<std::int32_t> labels(count);
  std::vector<Footing> footing(count, Footing::held_out);
  std::fill_n(footing.begin(), trained, Footing::trained_on);
  std::vector<std::uint8_t> trusted(count);
  for (std::size_t i = 0; i < count; ++i) {
    AuditedSample& sample = audit.samples[i];
    labels[i] = sample.given;
    if (!data.clean.empty()) sample.truth = data.clean[sample.index];
    trusted[i] = std::ranges::binary_search(data.trusted, sample.index) ? 1 : 0;
  }
  const PredictionBook* const history = audit.knows_history ? &run.history : nullptr;
  const bool is_vectors = set.source->shape().is_vector;
  BeliefInput input;
  input.classes = data.dataset.classes();
  input.labels = labels;
  input.footing = footing;
  input.trusted = trusted;
  input.course = run.noise_rates;
  input.course_turns = is_vectors ? turns_of_head : turns_of_network;
  input.threads = threads;
  input.predict = [&](std::size_t i, std::span<float> row) {
    i < trained ? read_scores(run.train.last, history, i, row)
                : read_scores(run.validation.last, nullptr, i - trained, row);
  };
  std::vector<float> lengths;
  add_lengths(run.train, lengths);
  add_lengths(run.validation, lengths);
  if (lengths.size() != count) lengths.clear();
  const char* const samples = is_vectors ? "vectors" : "images";
  take_beliefs(audit, fmt::format("labels of training and validation {}", samples), 0, believe(input), lengths);
}

void judge_test(const RunPredictions& run, std::size_t number, AuditPart part, int threads, Audit& audit) {
  const TestSet& test = run.data.dataset.tests[number];
  const ScoredSamples& scored = run.tests[number];
  if (scored.positions.empty()) return;
  const std::size_t first = audit.samples.size();
  add_samples(audit, scored, test.name, test.set, part == AuditPart::all || part == AuditPart::test);
  for (std::size_t i = 0; i < scored.positions.size() && !test.set.clean.empty(); ++i)
    audit.samples[first + i].truth = test.set.clean[i];
  BeliefInput input;
  input.classes = run.data.dataset.classes();
  input.labels = test.set.labels;
  input.threads = threads;
  input.predict = [&](std::size_t i, std::span<float> row) { read_scores(scored.last, nullptr, i, row); };
  std::vector<float> lengths;
  add_lengths(scored, lengths);
  take_beliefs(audit, "labels of " + test.name, first, believe(input), lengths);
}

/// The features of all samples of an audit, in its order; none where those of some are not known.
std::vector<float> features_of(const RunPredictions& run) {
  std::vector<float> features;
  const auto add = [&](const ScoredSamples& scored) {
    if (!scored.positions.empty() && scored.features.empty()) return false;
    features.insert(features.end(), scored.features.begin(), scored.features.end());
    return true;
  };
  if (!add(run.train) || !add(run.validation) || !std::ranges::all_of(run.tests, add)) return {};
  return features;
}

/// Groups over all parts: a picture that is in the training and in the test images is worth knowing too.
void find_duplicates(const RunPredictions& run, const FeatureRows& features, int threads, Audit& audit) {
  if (run.data.dataset.train.source->shape().is_vector) {
    const auto groups = equal_row_groups(features, threads);
    for (std::size_t i = 0; i < groups.size(); ++i) audit.samples[i].duplicates = groups[i];
    return;
  }
  std::vector<Thumbnail> thumbnails;
  const auto add = [&](const std::vector<Thumbnail>& all, const ScoredSamples& scored) {
    for (const std::uint32_t position : scored.positions) thumbnails.push_back(all[position]);
  };
  const std::vector<Thumbnail> learnt = read_thumbnails(*run.data.dataset.train.source, threads);
  add(learnt, run.train);
  add(learnt, run.validation);
  for (std::size_t i = 0; i < run.tests.size(); ++i)
    if (!run.tests[i].positions.empty())
      add(read_thumbnails(*run.data.dataset.tests[i].set.source, threads), run.tests[i]);
  const auto groups = duplicate_groups(thumbnails, features, {.threads = threads});
  for (std::size_t i = 0; i < groups.size(); ++i) audit.samples[i].duplicates = groups[i];
}

}  // namespace

Audit judge_run(const RunPredictions& run, AuditPart part, int threads) {
  Audit audit;
  audit.class_names = run.data.dataset.class_names;
  audit.root = run.data.dataset.root;
  audit.knows_history = !run.history.empty();
  judge_learnt(run, part, threads, audit);
  for (std::size_t i = 0; i < run.tests.size(); ++i) judge_test(run, i, part, threads, audit);
  return audit;
}

Audit audit_run(const RunPredictions& run, AuditPart part, int threads) {
  Audit audit = judge_run(run, part, threads);
  const std::vector<float> features = features_of(run);
  const FeatureRows rows = features.empty() ? FeatureRows{} : FeatureRows{features, run.train.dimension};
  find_duplicates(run, rows, threads, audit);
  audit.evidence = find_evidence(audit, rows, {.threads = threads});
  return audit;
}

Audit audit_probabilities(const std::vector<std::string>& class_names, std::span<const std::int32_t> labels,
                          std::span<const float> probabilities, int threads) {
  Audit audit;
  audit.class_names = class_names;
  audit.parts = {"all"};
  audit.knows_history = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    AuditedSample sample;
    sample.index = static_cast<std::uint32_t>(i);
    sample.given = labels[i];
    audit.samples.push_back(sample);
  }
  const std::size_t classes = class_names.size();
  BeliefInput input;
  input.classes = static_cast<int>(classes);
  input.labels = labels;
  input.threads = threads;
  input.predict = [&](std::size_t i, std::span<float> row) {
    for (std::size_t y = 0; y < classes; ++y) row[y] = std::log(std::max(probabilities[i * classes + y], least));
  };
  take_beliefs(audit, "labels", 0, believe(input), {});
  return audit;
}

}  // namespace regroup
