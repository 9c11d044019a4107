#include "regroup/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

EpochMetrics row(int epoch, double validation, double test) {
  EpochMetrics metrics;
  metrics.epoch = epoch;
  metrics.add("val_model", validation);
  metrics.add("test_model", test);
  return metrics;
}

TEST(Metrics, LastAndTheTwoBestsAreToldApart) {
  const PredictorSummary summary =
      summarise({row(1, 0.3, 0.7), row(2, 0.5, 0.8), row(3, 0.4, 0.9), row(4, 0.4, 0.6)}, "model");
  EXPECT_EQ(summary.last, 0.6);
  EXPECT_EQ(summary.best_val, 0.8);
  EXPECT_EQ(summary.best_test, 0.9);
}

TEST(Metrics, EpochsWithoutMeasuresDoNotCount) {
  const double none = std::nan("");
  const PredictorSummary summary = summarise({row(1, none, none), row(2, 0.5, 0.8), row(3, none, none)}, "model");
  EXPECT_EQ(summary.last, 0.8);
  EXPECT_EQ(summary.best_val, 0.8);
}

TEST(Metrics, WithoutAValidationSplitTheLastEpochIsTheChoice) {
  const double none = std::nan("");
  EXPECT_EQ(summarise({row(1, none, 0.9), row(2, none, 0.7)}, "model").best_val, 0.7);
}

TEST(Metrics, ACsvHasALineAnEpochAndGapsForWhatWasNotMeasured) {
  EXPECT_EQ(metrics_csv({row(1, std::nan(""), 0.25), row(2, 0.5, 0.75)}),
            "epoch,val_model,test_model\n1,,0.25\n2,0.5,0.75\n");
}

TEST(Metrics, TheSummaryIsJson) {
  RunSummary summary;
  summary.predictors["ema"] = {0.5, 0.6, 0.7};
  summary.primary = "ema";
  summary.memorised = std::nan("");
  const std::string json = summary_json(summary);
  EXPECT_NE(json.find("\"best_val\": 0.6"), std::string::npos);
  EXPECT_NE(json.find("\"memorised\": null"), std::string::npos);
}

}  // namespace
}  // namespace regroup
