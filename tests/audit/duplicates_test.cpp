#include "regroup/audit/duplicates.h"

#include <gtest/gtest.h>

#include <limits>

#include "audit/audit_testing.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::vector<std::int32_t> groups_of(const std::vector<Image>& images, int threads = 1) {
  const ImagesInMemory source = source_of(images);
  return duplicate_groups(read_thumbnails(source, threads), {}, {.threads = threads});
}

std::vector<Image> made_pictures(std::uint32_t count, int side = 32) {
  std::vector<Image> images;
  for (std::uint32_t i = 0; i < count; ++i) images.push_back(made_picture(i, side));
  return images;
}

TEST(EqualRows, AreThoseThatDifferByRoundingAlone) {
  std::vector<float> values;
  constexpr std::size_t rows = 3000, dimension = 6;  // so many that a graph finds the neighbours
  for (std::uint32_t i = 0; i < rows; ++i) {
    Stream stream(1, Purpose::synthetic, 0, i % 2500);
    for (std::size_t d = 0; d < dimension; ++d) {
      const auto value = static_cast<float>(stream.normal());
      // As if the second had been kept in float16.
      values.push_back(i < 2500 ? value : value * (1 + (d % 2 == 0 ? 4e-4F : -4e-4F)));
    }
  }
  const auto groups = equal_row_groups({values, dimension}, 2);
  std::size_t found = 0;
  for (std::size_t i = 0; i < 500; ++i) found += groups[i] >= 0 && groups[i] == groups[2500 + i] ? 1 : 0;
  EXPECT_GE(found, 495U) << "the graph may miss a few";
  for (std::size_t i = 500; i < 2500; ++i) EXPECT_EQ(groups[i], -1) << i;
  EXPECT_EQ(equal_row_groups({std::span(values).first(dimension), dimension}, 1), std::vector<std::int32_t>{-1});
  // Twice as long is not the same.
  const std::vector<float> lengths{1, 2, 2, 4, 1, 2};
  EXPECT_EQ(equal_row_groups({lengths, 2}, 1), (std::vector<std::int32_t>{0, -1, 0}));
}

TEST(Duplicates, CopiesAreInTheGroupOfTheirPictureAndNothingElseIs) {
  constexpr std::uint32_t count = 400, copied = 80;
  std::vector<Image> images = made_pictures(count);
  for (std::uint32_t i = 0; i < copied; ++i) {
    const Image& picture = images[i * 3];
    switch (i % 4) {
      case 0:
        images.push_back(grainy(picture, i));
        break;
      case 1:
        images.push_back(brighter(picture));
        break;
      case 2:
        images.push_back(grainy(mirror_image(picture), i));
        break;
      default:
        images.push_back(coarser(picture));
    }
  }
  const auto groups = groups_of(images, 2);
  ASSERT_EQ(groups.size(), count + copied);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool has_copy = i % 3 == 0 && i / 3 < copied;
    EXPECT_EQ(groups[i], has_copy ? static_cast<std::int32_t>(i / 3) : -1) << i;
  }
  for (std::uint32_t i = 0; i < copied; ++i) EXPECT_EQ(groups[count + i], static_cast<std::int32_t>(i)) << i;
}

TEST(Duplicates, DoNotDependOnThreads) {
  std::vector<Image> images = made_pictures(2100, 16);  // so many that a graph is built
  for (std::uint32_t i = 0; i < 50; ++i) images.push_back(grainy(mirror_image(images[i * 40]), i));
  const auto once = groups_of(images, 1);
  EXPECT_EQ(once, groups_of(images, 3));
  EXPECT_EQ(*std::ranges::max_element(once), 49);
}

TEST(Duplicates, MoreCopiesThanCandidatesAreOneGroup) {
  std::vector<Image> images = made_pictures(40);
  for (std::uint32_t i = 0; i < 30; ++i) images.push_back(grainy(images[5], i));
  const auto groups = groups_of(images);
  for (std::size_t i = 0; i < images.size(); ++i) EXPECT_EQ(groups[i], i == 5 || i >= 40 ? 0 : -1) << i;
}

TEST(Duplicates, FlatPicturesAreInNoGroup) {
  const auto groups =
      groups_of({plain(0), plain(0), grainy(plain(90), 1, 1), grainy(plain(90), 1, 1), made_picture(1)});
  EXPECT_EQ(groups, (std::vector<std::int32_t>{-1, -1, -1, -1, -1}));
}

TEST(Duplicates, TheSameShapeInAnotherColourIsAnotherPicture) {
  Image blue = made_picture(1);
  for (std::size_t i = 0; i < blue.pixels.size(); i += 3) std::swap(blue.pixels[i], blue.pixels[i + 2]);
  Image red = made_picture(1);
  for (std::size_t i = 0; i < red.pixels.size(); i += 3) {
    red.pixels[i] = level(red.pixels[i] + 60);
    blue.pixels[i + 2] = level(blue.pixels[i + 2] + 60);
  }
  EXPECT_EQ(groups_of({red, blue}), (std::vector<std::int32_t>{-1, -1}));
}

TEST(Duplicates, FeaturesGiveCandidatesAndPixelsDecide) {
  // All samples of a class have the same features.
  std::vector<Image> images = made_pictures(20);
  images.push_back(grainy(images[7], 1));
  const std::vector<float> features(images.size() * 3, 1.0F);
  const auto groups = duplicate_groups(read_thumbnails(source_of(images), 1), {features, 3}, {});
  for (std::size_t i = 0; i < images.size(); ++i) EXPECT_EQ(groups[i], i == 7 || i == 20 ? 0 : -1) << i;
}

TEST(Duplicates, SaysWhichFeaturesDoNotFit) {
  const auto thumbnails = read_thumbnails(source_of(made_pictures(3)), 1);
  std::vector<float> features(4, 1.0F);
  EXPECT_EQ(user_error([&] {
              duplicate_groups(thumbnails, {features, 2}, {});
            }),
            "2 rows of features for 3 pictures; give one row per picture");
  features.assign(6, 1.0F);
  features[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(user_error([&] {
              duplicate_groups(thumbnails, {features, 2}, {});
            }),
            "row 1 of the features has the value nan; all must be finite");
}

TEST(Duplicates, OfNothingAndOfOnePictureAreNone) {
  EXPECT_TRUE(duplicate_groups({}, {}, {}).empty());
  EXPECT_EQ(groups_of({made_picture(1)}), std::vector<std::int32_t>{-1});
  EXPECT_EQ(groups_of({made_picture(1), made_picture(1)}), (std::vector<std::int32_t>{0, 0}));
}

}  // namespace
}  // namespace regroup
