#include "regroup/data/mnist.h"

#include <gtest/gtest.h>

#include <numeric>

#include "data/made_images.h"
#include "support/data_testing.h"

namespace regroup {
namespace {

/// Three training images and two test images of 2x2.
void write_small_mnist(const TemporaryFolder& folder) {
  folder.write("train-images-idx3-ubyte", idx_bytes({3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_bytes({3}, {9, 0, 4})));
  folder.write("t10k-images-idx3-ubyte.gz", gzip(idx_bytes({2, 2, 2}, Bytes(8, 255))));
  folder.write("t10k-labels-idx1-ubyte", idx_bytes({2}, {1, 1}));
}

std::string error_of(const TemporaryFolder& folder) {
  return user_error([&] { load_dataset("mnist", {.data_dir = folder.path()}); });
}

TEST(Mnist, ReadsItsFourFiles) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const auto dataset = load_dataset("mnist", {.data_dir = folder.path()});
  EXPECT_EQ(dataset.name, "mnist");
  EXPECT_EQ(dataset.classes(), 10);
  EXPECT_EQ(dataset.class_names[7], "7");
  EXPECT_FALSE(dataset.mirrored_is_same);
  EXPECT_EQ(dataset.train.size(), 3U);
  EXPECT_EQ(dataset.train.source->shape().channels, 1);
  EXPECT_EQ(dataset.train.source->shape().height, 2);
  EXPECT_EQ(dataset.train.source->shape().width, 2);
  EXPECT_EQ(pixels_of(*dataset.train.source)[4], 5);
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{9, 0, 4}));
  EXPECT_EQ(dataset.test().size(), 2U);
  EXPECT_EQ(pixels_of(*dataset.test().source), Bytes(8, 255));
  EXPECT_EQ(dataset.test().labels, (std::vector<std::int32_t>{1, 1}));
}

TEST(Mnist, AFolderOfItsNameInTheDataFolderIsTaken) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  std::filesystem::create_directory(folder.path() / "fashion-mnist");
  EXPECT_EQ(load_dataset("mnist", {.data_dir = folder.path()}).train.size(), 3U);
  EXPECT_EQ(user_error([&] { load_dataset("fashion-mnist", {.data_dir = folder.path()}); }),
            "fashion-mnist: no train-images-idx3-ubyte and no train-images-idx3-ubyte.gz in " +
                (folder.path() / "fashion-mnist").string() + "; install dataset-fashion-mnist or give --data-dir");
}

TEST(Mnist, AMissingFileIsNamedWithItsFolder) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(error_of(folder), "mnist: no t10k-labels-idx1-ubyte and no t10k-labels-idx1-ubyte.gz in " +
                                  folder.path().string() +
                                  "; fetch its four files and give their folder by --data-dir");
}

TEST(Mnist, CountsOfImagesAndLabelsMustAgree) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const auto labels = folder.write("t10k-labels-idx1-ubyte", idx_bytes({3}, {1, 1, 1}));
  EXPECT_EQ(error_of(folder), labels.string() + ": 3 labels for the 2 images of " +
                                  (folder.path() / "t10k-images-idx3-ubyte.gz").string() +
                                  "; both files must be of one dataset");
}

TEST(Mnist, LabelsMustBeClasses) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const auto labels = folder.write("t10k-labels-idx1-ubyte", idx_bytes({2}, {1, 10}));
  EXPECT_EQ(error_of(folder), labels.string() + ": label 10 of image 1 is outside 0 .. 9");
}

TEST(Mnist, TrainingAndTestImagesMustHaveOneSize) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("t10k-images-idx3-ubyte.gz", gzip(idx_bytes({2, 2, 3}, Bytes(12))));
  EXPECT_EQ(error_of(folder),
            folder.path().string() + ": the training images are 2x2, the test images 3x2; they must be of one dataset");
}

TEST(FashionMnist, IsFoundWhereDebianPutsIt) {
  const auto dataset = load_dataset("fashion-mnist");
  EXPECT_EQ(dataset.classes(), 10);
  EXPECT_EQ(dataset.class_names.back(), "Ankle boot");
  EXPECT_TRUE(dataset.mirrored_is_same);
  const auto check = [](const LabelledSet& set, int count) {
    EXPECT_EQ(set.source->size(), static_cast<std::size_t>(count));
    EXPECT_EQ(set.source->shape(), (SampleShape{1, 28, 28}));
    std::vector<int> counts(10);
    for (const auto label : set.labels) ++counts[static_cast<std::size_t>(label)];
    EXPECT_EQ(counts, std::vector<int>(10, count / 10));
  };
  check(dataset.train, 60'000);
  check(dataset.test(), 10'000);
  // Published statistics of the training images: mean 0.2860 of the full scale.
  const auto pixels = pixels_of(*dataset.train.source);
  const double sum = std::accumulate(pixels.begin(), pixels.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(pixels.size()) / 255, 0.2860, 5e-5);
}

}  // namespace
}  // namespace regroup
