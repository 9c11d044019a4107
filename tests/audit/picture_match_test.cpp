#include "regroup/audit/picture_match.h"

#include <gtest/gtest.h>

#include "audit/audit_testing.h"

namespace regroup {
namespace {

Thumbnail thumbnail_of(const Image& image) {
  ResampleScratch scratch;
  return make_thumbnail(image, scratch);
}

Detail detail_of(const Image& image) { return detail_of(thumbnail_of(image)); }

TEST(PictureMatch, ACopyIsExplained) {
  const Image picture = made_picture(1);
  const Detail detail = detail_of(picture);
  EXPECT_LT(unexplained(detail, detail), 1e-5);
  EXPECT_LT(unexplained(detail, detail_of(brighter(picture))), 0.003);
  EXPECT_LT(unexplained(detail, detail_of(grainy(picture, 1))), 0.003);
  EXPECT_LT(unexplained(detail, detail_of(coarser(picture))), 0.003);
}

TEST(PictureMatch, OtherPicturesAreNot) {
  for (std::uint32_t i = 2; i < 50; ++i)
    EXPECT_GT(unexplained(detail_of(made_picture(1)), detail_of(made_picture(i))), 0.2) << i;
}

TEST(PictureMatch, DoesNotDependOnTheOrder) {
  const Detail fine = detail_of(made_picture(1)), coarse = detail_of(coarser(made_picture(1)));
  EXPECT_EQ(unexplained(fine, coarse), unexplained(coarse, fine));
}

TEST(PictureMatch, AMirrorImageIsExplainedByTheMirroredDetail) {
  const Image picture = made_picture(4);
  const Detail other = detail_of(mirror_image(picture));
  EXPECT_GT(unexplained(detail_of(picture), other), 0.2);
  EXPECT_LT(unexplained(mirrored(detail_of(picture)), other), 1e-3);
}

TEST(PictureMatch, FlatPicturesAreLikeNothing) {
  const Detail flat = detail_of(grainy(plain(100), 1, 1));
  EXPECT_TRUE(flat.flat());
  EXPECT_EQ(unexplained(flat, flat), 1);
  EXPECT_EQ(unexplained(flat, detail_of(made_picture(1))), 1);
}

TEST(PictureMatch, ANegativeOrAMuchFainterPictureIsNoCopy) {
  const Image picture = made_picture(5);
  EXPECT_EQ(unexplained(detail_of(picture), detail_of(brighter(picture, -1, 255))), 1);
  EXPECT_EQ(unexplained(detail_of(picture), detail_of(brighter(picture, 0.4, 70))), 1);
}

TEST(PictureMatch, ColoursOfAMirrorImageLieOnTheOtherSide) {
  Image picture = plain(0);
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
    if (i / 3 % 32 < 16) picture.pixels[i] = 200;
  }
  const Thumbnail left = thumbnail_of(picture), right = thumbnail_of(mirror_image(picture));
  EXPECT_GT(colour_distance(left, right, false), 50);
  EXPECT_LT(colour_distance(left, right, true), 1);
}

}  // namespace
}  // namespace regroup
