#include "regroup/train/trained_predictor.h"

#include <gtest/gtest.h>

#include <fstream>

#include "data/image_testing.h"
#include "regroup/data/dataset.h"
#include "regroup/io/safetensors.h"
#include "regroup/nn/weights.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "support/user_error.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

/// Red and blue squares of two sizes, as PNG and JPEG files in folders.
void write_squares(const TemporaryFolder& folder) {
  for (int i = 0; i < 40; ++i) {
    const auto shade = static_cast<std::uint8_t>(150 + 2 * i);
    const ImageSize size{32 + i % 2, 32};
    folder.write(fmt::format("photos/red/{:02}.png", i), png_bytes(plain_image(size, shade, 40, 30)));
    folder.write(fmt::format("photos/blue/{:02}.jpg", i), jpeg_bytes(plain_image(size, 20, 40, shade)));
  }
}

TEST(TrainedPredictor, OfAFolderOfImagesPredictsByItself) {
  const TemporaryFolder folder;
  write_squares(folder);
  const std::string data = "folder:" + (folder.path() / "photos").string();
  const Settings settings = run_settings({{"data", data},
                                          {"width", "8"},
                                          {"epochs", "16"},
                                          {"batch-size", "16"},
                                          {"lr", "0.05"},
                                          {"image-size", "32"},
                                          {"threads", "1"}});
  Observer nobody;
  const TrainResult result = train(settings, {folder.path() / "run"}, nobody);
  EXPECT_EQ(result.summary.predictors.at("ema").last, 1);
  EXPECT_NE(result.summary.memorised, result.summary.memorised) << "nobody knows the true labels of photos";

  const TrainedPredictor trained = load_trained_predictor(folder.path() / "run", "last", at::kCPU);
  EXPECT_EQ(trained.source, (folder.path() / "run/last/ema").string());
  EXPECT_EQ(trained.card.class_names, (std::vector<std::string>{"blue", "red"}));
  const Dataset dataset = load_dataset(data, {.image_size = 32});
  const auto options = evaluation_of(trained.card, at::kCPU, Precision::fp32);
  EXPECT_EQ(most_likely(probabilities(trained.predictor(), *dataset.test().source, options)), dataset.test().labels);
}

/// Runs used to leave the width to the network without saying which that is.
TEST(TrainedPredictor, TheWidthMayBeTheNetworksOwn) {
  const TemporaryFolder folder;
  NetworkCard card{"fast", 0, 3, 32, 32, {"cat", "dog"}, {0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}, false};
  const auto network = make_network("fast", {3, 32, 32, 2, 0}, 1);
  save_tensors(folder.path() / "model.safetensors", tensors_of(*network), card_metadata(card));
  const TrainedPredictor trained = load_trained_predictor(folder.path() / "model.safetensors", "last", at::kCPU);
  EXPECT_TRUE(trained.networks.front()->parameters().front().tensor.equal(network->parameters().front().tensor));
}

TEST(TrainedPredictor, NamesOfClassesKeepTheirBytes) {
  const TemporaryFolder folder;
  const std::vector<std::string> names{"caf\xe9", "caf\u00e9", "a\nb\"c"};
  NetworkCard card{"fast", 64, 3, 32, 32, names, {0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}, false};
  write_safetensors(folder.path() / "model.safetensors", {}, card_metadata(card));
  EXPECT_EQ(read_card(folder.path() / "model.safetensors").class_names, names);
}

TEST(TrainedPredictor, AFileThatDoesNotSayWhatItIsIsRefused) {
  const TemporaryFolder folder;
  EXPECT_NE(
      user_error([&] { load_trained_predictor(folder.path() / "none", "best", at::kCPU); }).find("does not exist"),
      std::string::npos);
  EXPECT_NE(
      user_error([&] { load_trained_predictor(folder.path(), "best", at::kCPU); }).find("there is no best/ in it"),
      std::string::npos);
  const std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  Bytes bytes{static_cast<std::uint8_t>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  const auto file = folder.write("plain.safetensors", bytes + Bytes(header.begin(), header.end()) + Bytes(4));
  EXPECT_NE(user_error([&] { load_trained_predictor(file, "best", at::kCPU); }).find("does not say which network"),
            std::string::npos);
}

}  // namespace
}  // namespace regroup
