#include "regroup/data/cifar.h"

#include <gtest/gtest.h>

#include "data/made_images.h"
#include "support/data_testing.h"

namespace regroup {
namespace {

/// A record whose pixel p has the colour (first + p, p / 4, 255 - p) modulo 256.
Bytes record(const Bytes& labels, int first) {
  Bytes bytes = labels;
  for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<std::uint8_t>(first + p));
  for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<std::uint8_t>(p / 4));
  for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<std::uint8_t>(255 - p));
  return bytes;
}

void write_small_cifar10(const TemporaryFolder& folder, const std::string& inner = "") {
  for (int batch = 1; batch <= 5; ++batch) {
    const auto label = static_cast<std::uint8_t>(batch);
    folder.write(inner + "data_batch_" + std::to_string(batch) + ".bin", record({label}, batch) + record({0}, 50));
  }
  folder.write(inner + "test_batch.bin", record({9}, 7));
}

std::string error_of(const TemporaryFolder& folder, const char* name = "cifar10") {
  return user_error([&] { load_dataset(name, {.data_dir = folder.path()}); });
}

TEST(Cifar10, ReadsItsBatchesInOrderWithTheChannelsSideBySide) {
  const TemporaryFolder folder;
  write_small_cifar10(folder);
  folder.write("batches.meta.txt", std::string("airplane\nautomobile\nbird\ncat\ndeer\r\ndog\nfrog\nhorse\nship\n"
                                               "truck\n\n"));
  const auto dataset = load_dataset("cifar10", {.data_dir = folder.path()});
  EXPECT_EQ(dataset.classes(), 10);
  EXPECT_EQ(dataset.class_names[4], "deer");
  EXPECT_TRUE(dataset.mirrored_is_same);
  EXPECT_EQ(dataset.train.size(), 10U);
  EXPECT_EQ(dataset.train.source->shape().channels, 3);
  EXPECT_EQ(dataset.train.source->shape().height, 32);
  EXPECT_EQ(dataset.train.source->shape().width, 32);
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}));
  const auto pixels = pixels_of(*dataset.train.source);
  ASSERT_EQ(pixels.size(), 10 * dataset.train.source->shape().values());
  EXPECT_EQ(dataset.test().labels, std::vector<std::int32_t>{9});
  for (std::size_t p = 0; p < 1024; ++p) {
    const std::size_t at = 2 * 3072 + 3 * p;  // the first image of the second batch
    ASSERT_EQ(pixels[at], (2 + p) % 256);
    ASSERT_EQ(pixels[at + 1], p / 4);
    ASSERT_EQ(pixels[at + 2], 255 - p % 256);
  }
}

TEST(Cifar10, TheFolderOfTheArchiveMayBeLeftInPlaceAndNamesMayBeMissing) {
  const TemporaryFolder folder;
  write_small_cifar10(folder, "cifar-10-batches-bin/");
  const auto dataset = load_dataset("cifar10", {.data_dir = folder.path()});
  EXPECT_EQ(dataset.train.size(), 10U);
  EXPECT_EQ(dataset.class_names.back(), "9");
}

TEST(Cifar100, TakesTheFineLabels) {
  const TemporaryFolder folder;
  folder.write("cifar-100-binary/train.bin", record({19, 99}, 1) + record({3, 0}, 2));
  folder.write("cifar-100-binary/test.bin", gzip(record({19, 42}, 3)));
  const auto dataset = load_dataset("cifar100", {.data_dir = folder.path()});
  EXPECT_EQ(dataset.classes(), 100);
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{99, 0}));
  EXPECT_EQ(dataset.test().labels, std::vector<std::int32_t>{42});
  EXPECT_EQ(pixels_of(*dataset.train.source)[3072], 2);
}

TEST(Cifar100, GivesTheCoarseLabelsOnRequest) {
  const TemporaryFolder folder;
  folder.write("cifar100/train.bin", record({19, 99}, 1) + record({3, 0}, 2));
  folder.write("cifar100/test.bin", record({0, 42}, 3));
  std::string names;
  for (int i = 0; i < 20; ++i) names += "superclass " + std::to_string(i) + "\n";
  folder.write("cifar100/coarse_label_names.txt", names);
  const auto dataset = load_dataset("cifar100-coarse", {.data_dir = folder.path()});
  EXPECT_EQ(dataset.classes(), 20);
  EXPECT_EQ(dataset.class_names[19], "superclass 19");
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{19, 3}));
  EXPECT_EQ(dataset.test().labels, std::vector<std::int32_t>{0});
  EXPECT_EQ(pixels_of(*dataset.train.source)[3072], 2);
  const auto file = folder.write("cifar100/test.bin", record({20, 42}, 3));
  EXPECT_EQ(error_of(folder, "cifar100-coarse"), file.string() + ": label 20 of image 0 is outside 0 .. 19");
}

TEST(Cifar10, AMissingFileIsNamedWithItsFolder) {
  const TemporaryFolder folder;
  write_small_cifar10(folder);
  std::filesystem::remove(folder.path() / "data_batch_4.bin");
  EXPECT_EQ(error_of(folder), "cifar10: no data_batch_4.bin in " + folder.path().string() +
                                  "; fetch its binary version and give the folder by --data-dir");
}

TEST(Cifar10, FilesMustHoldWholeRecordsAndAtLeastOne) {
  const TemporaryFolder folder;
  write_small_cifar10(folder);
  auto file = folder.write("data_batch_2.bin", record({1}, 0) + Bytes(3072));
  EXPECT_EQ(error_of(folder),
            file.string() + ": 3072 bytes follow image 1; a record has 3073 bytes, so fetch the file again");
  file = folder.write("data_batch_2.bin", Bytes{});
  EXPECT_EQ(error_of(folder), file.string() + ": the file is empty; fetch it again");
}

TEST(Cifar10, LabelsMustBeClasses) {
  const TemporaryFolder folder;
  write_small_cifar10(folder);
  const auto file = folder.write("test_batch.bin", record({9}, 0) + record({10}, 0));
  EXPECT_EQ(error_of(folder), file.string() + ": label 10 of image 1 is outside 0 .. 9");
}

TEST(Cifar10, TheNamesMustFitTheClasses) {
  const TemporaryFolder folder;
  write_small_cifar10(folder);
  const auto file = folder.write("batches.meta.txt", std::string("cat\ndog\n"));
  EXPECT_EQ(error_of(folder), file.string() +
                                  ": 2 names for 10 classes; fetch it again, or remove it to call the "
                                  "classes 0, 1, ...");
  folder.write("batches.meta.txt", std::string("cat\ndog\ncat\n"));
  EXPECT_EQ(error_of(folder), file.string() + ": two classes are called 'cat'; fetch it again");
}

}  // namespace
}  // namespace regroup
