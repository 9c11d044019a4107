// PES-Semi's refinement: the classifier alone is trained anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "regroup/io/safetensors.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

std::map<std::string, std::vector<std::byte>> parameters_of(const std::filesystem::path& run) {
  std::map<std::string, std::vector<std::byte>> parameters;
  const SafetensorsFile file(run / "last/model.safetensors");
  for (const TensorBytes& tensor : file.tensors())
    if (tensor.name.find("running_") == std::string::npos && tensor.dtype == "F32")
      parameters[tensor.name].assign(tensor.bytes.begin(), tensor.bytes.end());
  return parameters;
}

TEST(Refinement, OfPesSemiChangesTheClassifierAlone) {
  const TemporaryFolder folder;
  write_tiny_mnist(folder, 56);
  Observer nobody;
  const auto run = [&](const std::string& epochs, bool resume) {
    const std::map<std::string, std::string> values{{"data", "mnist"},       {"data-dir", folder.path().string()},
                                                    {"method", "pes-semi"},  {"model", "resnet18"},
                                                    {"width", "4"},          {"epochs", epochs},
                                                    {"batch-size", "16"},    {"threads", "1"},
                                                    {"early-epochs", "1"},   {"classifier-epochs", "2"},
                                                    {"schedule", "constant"}};
    train(run_settings({values.begin(), values.end()}), {folder.path() / "run", resume}, nobody);
    return parameters_of(folder.path() / "run");
  };
  const auto early = run("1", false), refined = run("2", true), last = run("3", true);
  ASSERT_GT(early.size(), 10U);
  for (const auto& [name, values] : early) {
    EXPECT_EQ(values != refined.at(name), name.starts_with("fc.")) << name;
    EXPECT_TRUE(refined.at(name) != last.at(name)) << name << " is trained again";
  }
}

}  // namespace
}  // namespace regroup
