#include "regroup/train/init_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>

#include "regroup/io/safetensors.h"
#include "regroup/nn/sgd.h"
#include "regroup/nn/weights.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "support/user_error.h"
#include "train/run_files.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<std::pair<std::string, std::string>>;

Learner learner_of(const std::string& model, NetworkShape shape = {3, 32, 32, 5, 8}) {
  return Learner(
      "model", [=](std::uint32_t start) { return make_network(model, shape, 2, start); },
      [](Network& network) { return std::make_unique<Sgd>(network, SgdOptions{}); }, {});
}

fs::path write_weights(const TemporaryFolder& folder, const std::string& model, NetworkShape shape = {3, 32, 32, 10, 8},
                       const std::map<std::string, std::string>& metadata = {}) {
  const fs::path file = folder.path() / "weights.safetensors";
  save_tensors(file, tensors_of(*make_network(model, shape, 1)), metadata);
  return file;
}

TEST(InitWeights, ForOtherClassesOnlyTheClassifierStartsAnew) {
  const TemporaryFolder folder;
  for (const std::string model : {"resnet18-imagenet", "resnet50", "efficientnet-lite0"}) {
    SCOPED_TRACE(model);
    const auto file = write_weights(folder, model);
    auto learner = learner_of(model);
    const std::string sentence = load_init_weights(file, model, learner);
    EXPECT_NE(sentence.find("; the classifier starts anew, as it must for other classes"), std::string::npos)
        << sentence;
    const auto given = make_network(model, {3, 32, 32, 10, 8}, 1);
    for (std::size_t i = 0; i + 2 < given->parameters().size(); ++i) {
      EXPECT_TRUE(at::equal(given->parameters()[i].tensor, learner.model().parameters()[i].tensor));
      EXPECT_TRUE(at::equal(given->parameters()[i].tensor, learner.ema()->parameters()[i].tensor));
    }
    auto same = learner_of(model, {3, 32, 32, 10, 8});
    const auto count = tensors_of(same.model()).size();
    EXPECT_EQ(load_init_weights(file, model, same),
              fmt::format("{}: {} of {} tensors loaded", file.string(), count, count));
  }
}

TEST(InitWeights, WhatDoesNotFitIsListedUpToTen) {
  const TemporaryFolder folder;
  const auto file = write_weights(folder, "resnet18");
  auto deeper = learner_of("resnet34");
  const std::string sentence = load_init_weights(file, "resnet34", deeper);
  EXPECT_NE(sentence.find("start anew: layer1.2.conv1.weight, "), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(" more"), std::string::npos) << sentence;
  EXPECT_LT(std::count(sentence.begin(), sentence.end(), ','), 12) << sentence;
  const auto larger = write_weights(folder, "resnet34");
  auto shallow = learner_of("resnet18");
  EXPECT_NE(load_init_weights(larger, "resnet18", shallow).find("have no place in resnet18: "), std::string::npos);
}

TEST(InitWeights, TheOtherStemIsAnErrorThatNamesTheModel) {
  const TemporaryFolder folder;
  auto small = learner_of("resnet18"), large = learner_of("resnet34-imagenet");
  const auto file = write_weights(folder, "resnet18-imagenet");
  EXPECT_EQ(user_error([&] { load_init_weights(file, "resnet18", small); }),
            file.string() +
                ": its first convolution has 7x7 pixels, and that of resnet18 has 3x3; give --model "
                "resnet18-imagenet");
  write_weights(folder, "resnet34");
  EXPECT_EQ(user_error([&] { load_init_weights(file, "resnet34-imagenet", large); }),
            file.string() +
                ": its first convolution has 3x3 pixels, and that of resnet34-imagenet has 7x7; give --model "
                "resnet34");
}

TEST(InitWeights, APickleIsRefusedWithTheLineThatConvertsIt) {
  const TemporaryFolder folder;
  for (const std::string name : {"a.pth", "a.pt", "a.bin", "a.ckpt"}) {
    const std::string sentence = user_error([&] { init_weights_card(folder.path() / name); });
    EXPECT_NE(
        sentence.find("s.save_file({k: v.contiguous() for k, v in d.get('state_dict', d).items()}, sys.argv[2])\" '" +
                      (folder.path() / name).string() + "' '" + (folder.path() / "a.safetensors").string() + "'"),
        std::string::npos)
        << sentence;
  }
  // Also under another name.
  folder.write("b.safetensors", Bytes{'P', 'K', 3, 4, 0, 0});
  folder.write("c.safetensors", Bytes{0x80, 2, 'c', 0, 0, 0});
  for (const std::string name : {"b.safetensors", "c.safetensors"})
    EXPECT_NE(user_error([&] { init_weights_card(folder.path() / name); }).find("PyTorch's own format"),
              std::string::npos);
}

std::map<std::string, std::string> card(const std::string& model) {
  return card_metadata({model, 8, 3, 64, 64, {"a", "b"}, {0.1F, 0.2F, 0.3F}, {0.4F, 0.5F, 0.6F}, false});
}

TEST(InitWeights, AFileThatSaysWhatItIsIsUnderstood) {
  const TemporaryFolder folder;
  const auto silent = write_weights(folder, "resnet18");
  EXPECT_FALSE(init_weights_card(silent).has_value());
  const auto file = write_weights(folder, "resnet18", {3, 32, 32, 10, 8}, card("resnet18"));
  const auto found = init_weights_card(file);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->model, "resnet18");
}

TEST(InitWeights, TheNormalisationIsThatOfTheWeights) {
  const TemporaryFolder folder;
  const std::string silent = write_weights(folder, "resnet18").string();
  EXPECT_FALSE(known_normalisation("auto", "", 3).has_value());
  EXPECT_FALSE(known_normalisation("measured", silent, 3).has_value());
  EXPECT_EQ(known_normalisation("auto", silent, 3)->mean, imagenet_normalisation().mean);
  EXPECT_FALSE(known_normalisation("auto", silent, 1).has_value()) << "those of colours say nothing about grey images";
  EXPECT_EQ(known_normalisation("imagenet", "", 3)->deviation, imagenet_normalisation().deviation);
  EXPECT_EQ(user_error([] { known_normalisation("imagenet", "", 1); }),
            "normalisation: imagenet is for three channels and the images have 1; give measured");
  const std::string file = write_weights(folder, "resnet18", {3, 32, 32, 10, 8}, card("resnet18")).string();
  EXPECT_EQ(known_normalisation("auto", file, 3)->mean, (std::vector<float>{0.1F, 0.2F, 0.3F}));
  EXPECT_EQ(known_normalisation("auto", file, 3)->deviation, (std::vector<float>{0.4F, 0.5F, 0.6F}));
  EXPECT_EQ(known_normalisation("imagenet", file, 3)->mean, imagenet_normalisation().mean);
}

class InitWeightsRun : public testing::Test {
 protected:
  InitWeightsRun() {
    write_tiny_mnist(folder_);
    Observer nobody;
    train(settings({{"epochs", "1"}, {"seed", "7"}}), {run("first")}, nobody);
  }

  /// 162 grey images in batches of 32: five steps per epoch.
  Settings settings(const Values& more = {}) const {
    Values values{{"data", "mnist"},    {"data-dir", folder_.path().string()},
                  {"width", "4"},       {"epochs", "3"},
                  {"batch-size", "32"}, {"threads", "1"},
                  {"lr", "0.05"},       {"checkpoint-every", "1h"},
                  {"method", "ce"}};
    values.insert(values.end(), more.begin(), more.end());
    return run_settings(values);
  }

  Settings from_first(const Values& more = {}) const {
    Values values{{"init-weights", weights("first").string()}};
    values.insert(values.end(), more.begin(), more.end());
    return settings(values);
  }

  fs::path run(const std::string& name) const { return folder_.path() / name; }
  fs::path weights(const std::string& name) const { return run(name) / "last/model.safetensors"; }

  /// The tensors of a finished run that differ from those of the first.
  std::vector<std::string> changed(const std::string& name) const {
    const SafetensorsFile before(weights("first")), after(weights(name));
    std::vector<std::string> names;
    for (const TensorBytes& tensor : after.tensors())
      if (!std::equal(tensor.bytes.begin(), tensor.bytes.end(), before.find(tensor.name)->bytes.begin()))
        names.push_back(tensor.name);
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(InitWeightsRun, InFrozenEpochsOnlyTheClassifierLearns) {
  Observer nobody;
  train(from_first({{"freeze-epochs", "3"}}), {run("frozen")}, nobody);
  EXPECT_EQ(changed("frozen"), (std::vector<std::string>{"fc.weight", "fc.bias"}));
  train(from_first({{"freeze-epochs", "2"}}), {run("thawed")}, nobody);
  EXPECT_GT(changed("thawed").size(), 60U);
}

TEST_F(InitWeightsRun, StoppedWhileFrozenAndResumedEndsTheSameAlsoWithoutTheFile) {
  struct StopAfter : Observer {
    explicit StopAfter(int steps) : steps(steps) {}
    void step_done(const StepReport& /*report*/) override { stop = --steps <= 0; }
    int steps;
    std::atomic<bool> stop{false};
  };
  const fs::path file = run("given.safetensors");
  const Settings given = settings({{"init-weights", file.string()}, {"freeze-epochs", "1"}, {"init-rate", "0.1"}});
  const auto copy = [&] { fs::copy_file(weights("first"), file, fs::copy_options::overwrite_existing); };
  copy();
  Observer nobody;
  train(given, {run("whole")}, nobody);
  for (const int steps : {2, 5, 8}) {
    SCOPED_TRACE(steps);
    copy();
    StopAfter stopper(steps);
    train(given, {run("parts"), false, &stopper.stop}, stopper);
    fs::remove(file);
    train(given, {run("parts"), true}, nobody);
    for (const auto* name : {"last/model.safetensors", "last/ema.safetensors", "last/state.safetensors"})
      EXPECT_TRUE(bytes_of(run("whole") / name) == bytes_of(run("parts") / name)) << name;
    fs::remove_all(run("parts"));
  }
}

TEST_F(InitWeightsRun, ARateOf0LeavesWhatWasLoadedAsItIs) {
  Observer nobody;
  train(from_first({{"init-rate", "0"}}), {run("still")}, nobody);
  for (const std::string& name : changed("still"))
    EXPECT_TRUE(name.starts_with("fc.") || name.find("running") != std::string::npos ||
                name.find("num_batches") != std::string::npos)
        << name;
}

TEST_F(InitWeightsRun, ItsNormalisationIsThatOfTheFileAndIsSaved) {
  Observer nobody;
  NetworkCard other = read_card(weights("first"));
  other.mean = {0.25F};
  other.deviation = {0.75F};
  const fs::path file = run("other.safetensors");
  const auto network = make_network("resnet18", {1, 28, 28, 10, 4}, 1);
  load_tensors(weights("first"), tensors_of(*network));
  save_tensors(file, tensors_of(*network), card_metadata(other));
  train(settings({{"init-weights", file.string()}, {"epochs", "1"}}), {run("normalised")}, nobody);
  EXPECT_EQ(read_card(weights("normalised")).mean, other.mean);
  EXPECT_EQ(read_card(weights("normalised")).deviation, other.deviation);
  train(settings({{"init-weights", file.string()}, {"epochs", "1"}, {"normalisation", "measured"}}), {run("measured")},
        nobody);
  EXPECT_EQ(read_card(weights("measured")).mean, read_card(weights("first")).mean);
}

}  // namespace
}  // namespace regroup
