// A finished run of cross-entropy stands in for the first phase of the methods that begin with it.
#include "regroup/methods/ce_start.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "regroup/io/safetensors.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "support/user_error.h"
#include "train/run_files.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

class CeStartRun : public testing::Test {
 protected:
  CeStartRun() { write_tiny_mnist(folder_, 56); }

  TrainResult run(const std::string& name, std::vector<std::pair<std::string, std::string>> more) {
    std::vector<std::pair<std::string, std::string>> values{
        {"data", "mnist"},     {"data-dir", folder_.path().string()},
        {"model", "resnet18"}, {"width", "4"},
        {"epochs", "2"},       {"batch-size", "16"},
        {"threads", "1"},      {"lr", "0.02"}};
    for (const auto& value : more) values.push_back(value);
    Observer nobody;
    return train(run_settings(values), {folder_.path() / name}, nobody);
  }

  std::string weights_of(const std::string& name) const {
    return (folder_.path() / name / "last/model.safetensors").string();
  }

  TemporaryFolder folder_;
};

TEST_F(CeStartRun, TheNetworkThatIsGivenIsWhereDmiStarts) {
  run("ce", {{"method", "ce"}});
  run("dmi", {{"method", "dmi"}, {"ce-weights", weights_of("ce")}, {"dmi-lr", "1e-12"}, {"weight-decay", "0"}});
  const auto classifier = [&](const std::string& name) {
    const SafetensorsFile file(weights_of(name));
    const auto bytes = file.find("fc.weight")->bytes;
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(classifier("dmi"), classifier("ce")) << "no step is large enough to change it";
}

TEST_F(CeStartRun, ANetworkOfAnotherWidthIsRefused) {
  run("ce", {{"method", "ce"}, {"width", "8"}});
  const std::string sentence = user_error([&] {
    run("forward", {{"method", "forward"}, {"ce-weights", weights_of("ce")}});
  });
  EXPECT_NE(sentence.find("is of another network"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace regroup
