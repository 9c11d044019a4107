#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "export/sample_models.h"
#include "regroup/export/exported_model.h"
#include "regroup/export/onnx.h"
#include "regroup/export/torchscript.h"
#include "support/temporary_folder.h"
#include "support/user_error.h"

namespace regroup {
namespace {

torch::jit::Module loaded(const ExportedModel& model, torch::jit::ExtraFilesMap& extra) {
  std::istringstream in(torchscript_bytes(model));
  return torch::jit::load(in, c10::nullopt, extra);
}

/// Every file of every format is also run by other programs: see check.py and opencv_check.cpp.
TEST(Export, TorchscriptGivesTheLogitsOfEveryNetwork) {
  const at::NoGradGuard no_grad;
  for (const SampleModel& sample : sample_models()) {
    SCOPED_TRACE(sample.name);
    ASSERT_GT(sample.logits.std(0).max().item<double>(), 1e-3) << "the samples differ";
    torch::jit::ExtraFilesMap extra{{"regroup.json", ""}};
    torch::jit::Module module = loaded(exported_model(sample.trained, true), extra);
    EXPECT_LE(difference(module.forward({sample.input}).toTensor(), sample.logits), 1e-4);
    if (!sample.trained.card.is_vector()) {
      EXPECT_LE(difference(module.forward({sample.input.to(at::kByte)}).toTensor(), sample.logits), 1e-4)
          << "pixels as bytes";
    }
    EXPECT_EQ(nlohmann::json::parse(extra.at("regroup.json")).at("model"), sample.trained.card.model);
    EXPECT_EQ(module.attr("class_names").toListRef().at(6).toStringRef(), "class 6");
  }
}

TEST(Export, TorchscriptHasTheTensorsUnderOurNames) {
  const SampleModel sample = sample_model("one", "resnet18", {3, 32, 32}, 4, false);
  torch::jit::ExtraFilesMap extra;
  const torch::jit::Module module = loaded(exported_model(sample.trained, true), extra);
  std::map<std::string, at::Tensor> found;
  for (const auto& parameter : module.named_parameters()) found.emplace(parameter.name, parameter.value);
  for (const auto& buffer : module.named_buffers()) found.emplace(buffer.name, buffer.value);
  for (const NamedTensor& tensor : tensors_of(*sample.trained.networks.front())) {
    if (tensor.name.ends_with("num_batches_tracked")) continue;
    ASSERT_TRUE(found.contains(tensor.name)) << tensor.name;
    EXPECT_TRUE(at::equal(found.at(tensor.name), tensor.tensor.detach())) << tensor.name;
  }
}

TEST(Export, TorchscriptSaysWhatItGets) {
  const SampleModel sample = sample_model("one", "fast", {3, 32, 32}, 8, false);
  torch::jit::ExtraFilesMap extra;
  torch::jit::Module module = loaded(exported_model(sample.trained, true), extra);
  try {
    module.forward({at::zeros({1, 3, 40, 40})});
    FAIL() << "images of another size are taken";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("give images: [samples, 3, 32, 32], RGB, 0 to 255"), std::string::npos)
        << error.what();
  }
}

TEST(Export, OnnxIsWhatTheEnginesCheckerTakes) {
  for (const SampleModel& sample : sample_models()) {
    SCOPED_TRACE(sample.name);
    EXPECT_NO_THROW(torch::jit::check_onnx_proto(onnx_bytes(exported_model(sample.trained, true))));
  }
}

TEST(Export, WithoutTheMirrorImageItIsTheNetworkItself) {
  const at::NoGradGuard no_grad;
  SampleModel sample = sample_model("one", "fast", {3, 32, 32}, 8, true);
  torch::jit::ExtraFilesMap extra;
  torch::jit::Module module = loaded(exported_model(sample.trained, false), extra);
  sample.trained.card.test_flip = false;
  const at::Tensor plain = defined_logits(sample.trained, sample.input);
  EXPECT_GT(difference(plain, sample.logits), 1e-3);
  EXPECT_LE(difference(module.forward({sample.input}).toTensor(), plain), 1e-4);
}

TEST(Export, WeightsArePredictedWithAgain) {
  const at::NoGradGuard no_grad;
  const TemporaryFolder folder;
  for (const SampleModel& sample : sample_models()) {
    SCOPED_TRACE(sample.name);
    const auto file = folder.path() / (sample.name + ".safetensors");
    write_weights(file, sample.trained, true);
    const TrainedPredictor again = load_trained_predictor(file, "best", at::kCPU);
    EXPECT_EQ(again.card.class_names, sample.trained.card.class_names) << "to the byte";
    EXPECT_TRUE(at::equal(defined_logits(again, sample.input), sample.logits));
  }
}

TEST(Export, AFileOfSeveralNetworksHasAllOfThem) {
  const TemporaryFolder folder;
  const SampleModel sample = sample_model("one", "fast", {3, 32, 32}, 8, false);
  NetworkCard card = sample.trained.card;
  card.networks = 2;
  save_tensors(folder.path() / "half.safetensors", tensors_of(*sample.trained.networks.front()), card_metadata(card));
  EXPECT_NE(user_error([&] {
              load_trained_predictor(folder.path() / "half.safetensors", "best", at::kCPU);
            }).find("there is no tensor 'network1."),
            std::string::npos);
  card.networks = 1'000'000;
  save_tensors(folder.path() / "many.safetensors", tensors_of(*sample.trained.networks.front()), card_metadata(card));
  EXPECT_NE(user_error([&] {
              load_trained_predictor(folder.path() / "many.safetensors", "best", at::kCPU);
            }).find("makes no sense"),
            std::string::npos);
}

}  // namespace
}  // namespace regroup
