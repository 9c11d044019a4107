#include "regroup/train/run_data.h"

#include <gtest/gtest.h>

#include <numeric>

#include "data/image_testing.h"
#include "regroup/data/labels_file.h"
#include "regroup/train/run_settings.h"
#include "support/user_error.h"

namespace regroup {
namespace {

using Positions = std::vector<std::uint32_t>;

/// 20 training images of two classes and 10 validation images, and as many test images.
std::string write_photos(const TemporaryFolder& folder) {
  for (int i = 0; i < 40; ++i) {
    const char* part = i < 20 ? "train" : i < 30 ? "Validation" : "test";
    folder.write(fmt::format("photos/{}/{}/{:02} .png", part, i % 2 == 0 ? "a" : "b, c", i),
                 png_bytes(plain_image({30, 30}, static_cast<std::uint8_t>(i), 1, 2)));
  }
  return "folder:" + (folder.path() / "photos").string();
}

RunData load(std::vector<std::pair<std::string, std::string>> values) {
  Observer nobody;
  return load_run_data(run_settings(values), 1, nobody);
}

Positions from_to(std::uint32_t begin, std::uint32_t end) {
  Positions positions(end - begin);
  std::iota(positions.begin(), positions.end(), begin);
  return positions;
}

TEST(RunData, NoiseLooksAtTheBytesAsTheyAre) {
  const auto features =
      sample_features(std::make_shared<ImagesInMemory>(SampleShape{1, 1, 3}, Bytes{0, 1, 2, 127, 128, 255}));
  ASSERT_EQ(features.size, 3U);
  std::vector<float> row(3);
  features.read(0, row);
  EXPECT_EQ(row, (std::vector<float>{0, 1, 2}));
  features.read(1, row);
  EXPECT_EQ(row, (std::vector<float>{127, 128, 255}));
}

TEST(RunData, TheDatasOwnValidationPartIsTheValidationSplit) {
  const TemporaryFolder folder;
  const auto data = load({{"data", write_photos(folder)}, {"noise", "pairflip:1"}, {"val-split", "0.5"}});
  EXPECT_EQ(data.split.train, from_to(0, 20));
  EXPECT_EQ(data.split.validation, from_to(20, 30));
  // Its labels are as noisy as those of the training images.
  for (std::uint32_t i = 0; i < 30; ++i) EXPECT_TRUE(data.is_wrong(i)) << i;
}

TEST(RunData, ReadsTheLabelsThatItWrites) {
  const TemporaryFolder folder;
  const std::string photos = write_photos(folder);
  const auto noisy = load({{"data", photos}, {"noise", "symmetric:0.5"}});
  const auto file = folder.write("labels.csv", labels_csv(noisy));
  const auto again = load({{"data", photos}, {"labels", file.string()}, {"trusted", file.string()}});
  EXPECT_EQ(again.observed, noisy.observed);
  EXPECT_EQ(again.clean, noisy.clean);
  EXPECT_EQ(again.trusted, from_to(0, 30));
  std::filesystem::remove(folder.path() / "photos/train/a/00 .png");
  EXPECT_NE(user_error([&] {
              load({{"data", photos}, {"labels", file.string()}});
            }).find("the folder has changed"),
            std::string::npos);
}

TEST(RunData, LabelsThatAreMadeWrongBeforehandAreThoseThatARunMakesItself) {
  const TemporaryFolder folder;
  write_photos(folder);
  // One of them is in the test part.
  for (const char* name : {"01.png", "03.png"})
    folder.write(std::string("photos/train/a/") + name, std::string("no image"));
  for (const char* part : {"Validation", "test"}) std::filesystem::remove_all(folder.path() / "photos" / part);
  std::vector<std::pair<std::string, std::string>> values{
      {"data", "folder:" + (folder.path() / "photos").string()}, {"test-split", "0.3"}, {"on-bad-image", "skip"}};
  const auto with = [&](const char* name, const std::string& value) {
    auto more = values;
    more.emplace_back(name, value);
    return more;
  };
  Observer nobody;
  const Settings settings = run_settings(with("noise", "instance:0.4"));
  const Dataset images = load_run_images(settings, 1, nobody);
  EXPECT_EQ(images.train.size(), 14);
  const auto file = folder.write(
      "labels.csv", labels_csv(make_run_noise(settings, images, 1).labels, images.train.labels, images.train.paths));
  const RunData replaced = load(with("labels", file.string())), made = load(with("noise", "instance:0.4"));
  EXPECT_EQ(replaced.observed, made.observed);
  EXPECT_EQ(labels_csv(replaced), labels_csv(made));
}

}  // namespace
}  // namespace regroup
