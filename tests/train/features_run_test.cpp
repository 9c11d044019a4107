// Runs on vectors instead of images.
#include <gtest/gtest.h>

#include <atomic>

#include "regroup/methods/method.h"
#include "regroup/train/audit_run.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trained_predictor.h"
#include "regroup/train/trainer.h"
#include "support/vector_files.h"
#include "train/run_files.h"

namespace regroup {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

class StopAfter : public Observer {
 public:
  explicit StopAfter(int steps) : steps_(steps) {}
  void step_done(const StepReport& /*report*/) override { stop = --steps_ <= 0; }
  std::atomic<bool> stop{false};

 private:
  int steps_;
};

class FeaturesRun : public testing::Test {
 protected:
  static constexpr std::size_t numbers = 12, classes = 4;

  FeaturesRun() {
    write_part("train", 800, 1);
    write_part("test", 200, 2);
  }

  /// Normal numbers around a centre per class; the centres lie so far apart that few are nearer to another one.
  void write_part(const std::string& part, std::size_t rows, std::uint32_t key) {
    std::vector<float> values;
    std::string labels = "label,text\n";
    for (std::size_t i = 0; i < rows; ++i) {
      Stream stream(key, Purpose::synthetic, 0, static_cast<std::uint32_t>(i));
      const std::size_t label = i % classes;
      for (std::size_t d = 0; d < numbers; ++d)
        values.push_back(static_cast<float>(0.1 * (stream.normal() + (d % classes == label ? 2 : 0))));
      labels += "class " + std::to_string(label) + ",row " + std::to_string(i) + "\n";
    }
    folder_.write(part + ".npy", npy_table(rows, numbers, values));
    folder_.write(part + ".csv", Bytes(labels.begin(), labels.end()));
  }

  Settings settings(const Values& more = {}) const {
    Values values{{"data", "features:" + folder_.path().string()},
                  {"noise", "symmetric:0.4"},
                  {"epochs", "8"},
                  {"batch-size", "32"},
                  {"threads", "1"},
                  {"checkpoint-every", "1h"}};
    values.insert(values.end(), more.begin(), more.end());
    std::vector<GivenValue> given;
    for (const auto& [name, value] : values) given.push_back({name, value, name, false, true});
    return resolve_settings({given});
  }

  std::filesystem::path run(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

TEST_F(FeaturesRun, LearnsInSpiteOfWrongLabelsAndTellsThem) {
  Observer nobody;
  const TrainResult result = train(settings(), {run("a")}, nobody);
  EXPECT_EQ(resolve_settings({read_config((run("a") / "config.toml").string())}).text("model"), "linear");
  EXPECT_GT(result.summary.predictors.at("ema").last, 0.97);
  const RunPredictions predictions = read_run_predictions(run("a"), {}, "cpu", nobody);
  const Audit audit = audit_run(predictions, AuditPart::all, 1);
  EXPECT_GT(audit_quality(audit, audit.labels.front())->average_precision, 0.95);
  EXPECT_EQ(audit.labels.front().name, "labels of training and validation vectors");
  EXPECT_EQ(audit.samples[5].text, "row " + std::to_string(audit.samples[5].index));
  EXPECT_FALSE(audit.evidence.empty());
}

TEST_F(FeaturesRun, ResumesBitForBitAlsoWhereVectorsAreMoreThanTheMemory) {
  Observer nobody;
  for (const char* memory : {"0", "0.00001"}) {
    for (const char* model : {"linear", "mlp"}) {
      const std::string name = std::string(model) + memory;
      const Settings with = settings({{"model", model}, {"width", "8"}, {"vector-memory", memory}, {"epochs", "3"}});
      train(with, {run(name)}, nobody);
      StopAfter stopper(30);
      EXPECT_FALSE(train(with, {run(name + "s"), false, &stopper.stop}, stopper).finished);
      train(with, {run(name + "s"), true}, nobody);
      EXPECT_EQ(bytes_of(run(name) / "last/ema.safetensors"), bytes_of(run(name + "s") / "last/ema.safetensors"));
      EXPECT_EQ(figures_of(run(name)), figures_of(run(name + "s")));
    }
  }
}

TEST_F(FeaturesRun, EveryMethodLearnsOrSaysThatItNeedsImages) {
  Observer nobody;
  for (const MethodInfo& method : methods()) {
    SCOPED_TRACE(method.name);
    const Settings with = settings({{"method", std::string(method.name)}});
    if (method.needs_images) {
      EXPECT_TRUE(has(user_error([&] { train(with, {}, nobody); }), "vectors have no views; give --method ce, mixup"));
    } else {
      const RunSummary summary = train(with, {}, nobody).summary;
      EXPECT_GT(summary.predictors.at(summary.primary).last, 0.9);
    }
  }
}

TEST_F(FeaturesRun, LabelsMayGoWrongByWhatTheVectorsAre) {
  Observer nobody;
  const RunData data = load_run_data(settings({{"noise", "instance:0.4"}}), 1, nobody);
  // 720 labels of rate 0.4: a deviation of 0.018, and rates are drawn too.
  EXPECT_NEAR(data.noise_rate(), 0.4, 0.1);
}

TEST_F(FeaturesRun, PredictsFromAFileAsItWasMeasured) {
  Observer nobody;
  const TrainResult result = train(settings(), {run("a")}, nobody);
  const TrainedPredictor trained = load_trained_predictor(run("a"), "last", at::kCPU);
  EXPECT_TRUE(trained.card.is_vector());
  const RunData data = load_run_data(settings(), 1, nobody);
  const auto shares = probabilities(trained.predictor(), *data.dataset.test().source,
                                    evaluation_of(trained.card, at::kCPU, Precision::bf16));
  EXPECT_EQ(accuracy(most_likely(shares), data.dataset.test().labels), result.summary.predictors.at("ema").last);
}

TEST_F(FeaturesRun, AnOtherNetworkIsRefusedInOneSentence) {
  Observer nobody;
  EXPECT_TRUE(has(user_error([&] {
                    train(settings({{"model", "fast"}}), {}, nobody);
                  }),
                  "the model fast takes images, and the data is vectors; give --model linear or mlp"));
}

TEST_F(FeaturesRun, OfOtherVectorsIsNotResumed) {
  StopAfter stopper(5);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  write_part("train", 800, 3);
  Observer nobody;
  EXPECT_TRUE(has(user_error([&] { train(settings(), {run("a"), true}, nobody); }), "the data is not what this run"));
}

}  // namespace
}  // namespace regroup
