#include "regroup/train/data_change.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

RunData data_of(std::vector<std::string> paths, std::vector<std::int32_t> labels) {
  RunData data;
  data.dataset.train.paths = std::move(paths);
  data.observed = std::move(labels);
  return data;
}

TEST(DescribeChange, CountsImagesThatAreNewGoneOrHaveOtherLabels) {
  const std::string before = labels_csv(data_of({"a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg"}, {0, 0, 1, 1}));
  EXPECT_EQ(describe_change(before, data_of({"a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg", "b/5.jpg"}, {0, 0, 1, 1, 1})),
            "1 image is new (b/5.jpg)");
  EXPECT_EQ(describe_change(before, data_of({"a/2.jpg", "b/3.jpg"}, {0, 1})), "2 images are gone (the first: a/1.jpg)");
  EXPECT_EQ(describe_change(before, data_of({"a/1.jpg", "a/2.jpg", "a/3.jpg", "b/4.jpg"}, {0, 1, 0, 1})),
            "1 image is new (a/3.jpg), 1 image is gone (b/3.jpg), 1 image has another label (a/2.jpg)");
}

TEST(DescribeChange, GoesByIndexesWhereThereAreNoPaths) {
  EXPECT_EQ(describe_change(labels_csv(data_of({}, {0, 1, 2})), data_of({}, {0, 1, 1})),
            "1 image has another label (2)");
  EXPECT_EQ(describe_change(labels_csv(data_of({}, {0, 1, 2})), data_of({}, {0, 1, 2})),
            "the list of images and their labels is the same, but files or test sets have changed");
}

}  // namespace
}  // namespace regroup
