// The audit of many labels, and what collecting predictions takes while training.
#include <sys/resource.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "bench.h"
#include "regroup/audit/audit_files.h"
#include "regroup/core/random.h"
#include "regroup/data/sample_source.h"
#include "regroup/labels/prediction_book.h"
#include "regroup/train/audit_run.h"

namespace regroup::bench {
namespace {

constexpr int threads = 2;

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024 / 1024;
}

/// Rows of log-probabilities: one class stands out, and a fifth of the labels are of another.
std::vector<float> made_rows(std::size_t count, int classes, std::vector<std::int32_t>& labels) {
  const auto width = static_cast<std::size_t>(classes);
  Stream random(1, Purpose::synthetic);
  std::vector<float> rows(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t truth = random.below(static_cast<std::uint32_t>(classes));
    double sum = 0;
    for (std::size_t y = 0; y < width; ++y) {
      rows[i * width + y] = static_cast<float>(random.uniform() + (y == truth ? 8 * random.uniform() : 0));
      sum += std::exp(static_cast<double>(rows[i * width + y]));
    }
    for (std::size_t y = 0; y < width; ++y) rows[i * width + y] -= static_cast<float>(std::log(sum));
    labels.push_back(
        static_cast<std::int32_t>(random.uniform() < 0.2 ? random.below(static_cast<std::uint32_t>(classes)) : truth));
  }
  return rows;
}

/// Microseconds that a sample takes to be recorded, when the book is filled already.
double recording_time(int classes) {
  constexpr std::size_t samples = 10'000;
  std::vector<std::int32_t> labels;
  const std::vector<float> rows = made_rows(samples, classes, labels);
  PredictionBook book(labels, classes);
  std::vector<std::uint32_t> all(samples);
  std::iota(all.begin(), all.end(), 0U);
  book.record(all, rows);
  constexpr int turns = 20;
  return 1e6 / samples / turns * seconds([&] {
           for (int turn = 0; turn < turns; ++turn) book.record(all, rows);
         });
}

/// A run of a million images as the audit sees it.
RunPredictions made_run(std::size_t count, int classes) {
  constexpr std::size_t different = 50'000;  // rows are repeated, so that they fit into memory
  std::vector<std::int32_t> labels;
  const std::vector<float> rows = made_rows(different, classes, labels);
  std::vector<std::int32_t> all_labels;
  for (std::size_t i = 0; i < count; ++i) all_labels.push_back(labels[i % different]);
  const std::size_t trained = count - count / 10;
  const auto part = [&](std::size_t begin, std::size_t end) {
    ScoredSamples scored{{},
                         PredictionBook({all_labels.begin() + static_cast<std::ptrdiff_t>(begin),
                                         all_labels.begin() + static_cast<std::ptrdiff_t>(end)},
                                        classes),
                         {},
                         0};
    const auto width = static_cast<std::size_t>(classes);
    for (std::size_t i = begin; i < end; ++i) {
      const auto slot = static_cast<std::uint32_t>(i - begin);
      scored.positions.push_back(static_cast<std::uint32_t>(i));
      scored.last.record({&slot, 1}, std::span(rows).subspan(i % different * width, width));
    }
    return scored;
  };
  RunData data;
  for (int y = 0; y < classes; ++y) data.dataset.class_names.push_back("class " + std::to_string(y));
  data.observed = all_labels;
  data.dataset.train.source = std::make_shared<ImagesInMemory>(SampleShape{1, 1, 1}, std::vector<std::uint8_t>{});
  ScoredSamples train = part(0, trained), validation = part(trained, count);
  PredictionBook history = train.last;
  return {std::move(data), std::move(train), std::move(validation), {}, std::move(history), {}, 1, 1};
}

}  // namespace

void bench_audit(Figures& figures) {
  report(figures, "collecting_us.c10", recording_time(10));
  report(figures, "collecting_us.c100", recording_time(100));
  const RunPredictions run = made_run(1'000'000, 100);
  std::size_t bytes = 0;
  report(figures, "audit_seconds.million_c100", seconds([&] {
           const Audit audit = judge_run(run, AuditPart::all, threads);
           bytes += issues_csv(audit).size();
           bytes += summary_json(audit).size();
           bytes += corrected_csv(audit, run.data.observed, {}, {}).size();
         }));
  report(figures, "audit_gigabytes.million_c100", peak_gigabytes());
  report(figures, "audit_files_gigabytes.million_c100", static_cast<double>(bytes) / 1e9);
}

}  // namespace regroup::bench
