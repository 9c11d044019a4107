#include "regroup/data/clothing1m.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/made_images.h"
#include "data/made_releases.h"

namespace regroup {
namespace {

class Clothing1m : public testing::Test {
 protected:
  void write(const ReleaseSizes& sizes = {}, const std::string& place = "") const {
    write_clothing1m([&](const std::string& name, const Bytes& content) { folder_.write(name, content); }, sizes,
                     place);
  }

  Dataset load(LoadOptions options = {}) const {
    options.data_dir = folder_.path();
    options.image_size = 28;
    return load_dataset("clothing1m", options);
  }

  std::string error() const {
    return user_error([&] { load(); });
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(Clothing1m, HasNoisyTrainingLabelsAndThoseOfPeopleElsewhere) {
  write();
  const Dataset dataset = load();
  EXPECT_EQ(dataset.name, "clothing1m");
  EXPECT_FALSE(dataset.labels_are_true);
  ASSERT_EQ(dataset.classes(), 14);
  EXPECT_EQ(dataset.class_names[3], "Garment 3");
  EXPECT_EQ(dataset.validation_count, 14);
  ASSERT_EQ(dataset.train.size(), 14 * 7U);
  ASSERT_EQ(dataset.test().size(), 28U);
  EXPECT_EQ(dataset.train.source->size(), 14 * 7U);
  EXPECT_EQ(dataset.train.paths.front(), "images/0/00/1000,0.jpg");
  for (std::size_t i = 0; i < 14 * 6; ++i) {
    const auto label = static_cast<int>(i / 6);
    EXPECT_EQ(dataset.train.labels[i], i % 6 % 3 == 2 ? (label + 1) % 14 : label) << i;
    EXPECT_EQ(dataset.train.clean[i], i % 2 == 0 ? label : -1) << i;
  }
  for (std::size_t i = 14 * 6; i < dataset.train.size(); ++i) {
    EXPECT_EQ(dataset.train.labels[i], static_cast<int>(i - 14 * 6)) << "the validation part";
    EXPECT_EQ(dataset.train.clean[i], dataset.train.labels[i]);
  }
  for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(dataset.test().labels[i], static_cast<int>(i / 2));
}

TEST_F(Clothing1m, ItsListsMayLieInAnnotationsAndItsPhotosWithoutTheFolderAround) {
  write({2, 1, 1}, "annotations/");
  for (int i = 0; i < 10; ++i)
    std::filesystem::rename(folder_.path() / "images" / std::to_string(i), folder_.path() / std::to_string(i));
  std::filesystem::remove(folder_.path() / "images");
  const Dataset dataset = load();
  EXPECT_EQ(dataset.train.size(), 14 * 3U);
  EXPECT_EQ(dataset.train.paths.front(), "0/00/1000,0.jpg");
}

TEST_F(Clothing1m, APhotoThatIsMissingIsLeftOutWhereThatIsAskedFor) {
  write({2, 1, 1});
  std::filesystem::remove(folder_.path() / "images/0/00/1000,0.jpg");
  EXPECT_EQ(error(),
            path("images/0/00/1000,0.jpg") + ": cannot be opened; does it exist, is it a file, and may it be read?");
  std::vector<std::string> warnings;
  const Dataset dataset = load(
      {.on_bad_image = BadImage::skip, .warn = [&](const std::string& sentence) { warnings.push_back(sentence); }});
  EXPECT_EQ(dataset.train.size(), 14 * 3U - 1);
  EXPECT_EQ(dataset.validation_count, 14);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(Clothing1m, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(error(), folder_.path().string() +
                         ": there is no category_names_eng.txt, also not in annotations/; ask its authors for it and "
                         "give its folder by --data-dir");
  write({2, 1, 1});
  folder_.write("clean_val_key_list.txt", std::string("images/0/0/other.jpg\n"));
  EXPECT_EQ(error(), path("clean_val_key_list.txt") + ": line 1: 'images/0/0/other.jpg' has no label in " +
                         path("clean_label_kv.txt"));
  folder_.write("clean_val_key_list.txt", std::string("\n"));
  EXPECT_EQ(error(), path("clean_val_key_list.txt") + ": lists no images; is it the right file?");
  folder_.write("noisy_label_kv.txt", std::string("images/0/00/1000,0.jpg 14\n"));
  EXPECT_EQ(error(), path("noisy_label_kv.txt") + ": line 1: the label is 14; the classes are 0 to 13");
  folder_.write("category_names_eng.txt", std::string("Shirt\nDress\n"));
  EXPECT_EQ(error(),
            path("category_names_eng.txt") + ": has 2 names; Clothing1M has 14 classes, and the file a line for each");
}

TEST_F(Clothing1m, ItsListsCanBeReadWithoutAnyPhoto) {
  write({1, 1, 1});
  std::filesystem::remove_all(folder_.path() / "images");
  EXPECT_EQ(load({.only_lists = true}).classes(), 14);
  std::filesystem::remove(folder_.path() / "noisy_label_kv.txt");
  EXPECT_NE(user_error([&] { load({.only_lists = true}); }).find("there is no noisy_label_kv.txt"), std::string::npos);
}

}  // namespace
}  // namespace regroup
