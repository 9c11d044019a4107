#include "regroup/data/dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "support/data_testing.h"

namespace regroup {
namespace {

TEST(Datasets, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(user_error([] { load_dataset("mnits"); }),
            "unknown dataset 'mnits'; known: fashion-mnist, mnist, cifar10, cifar100, cifar100-coarse, clothing1m, "
            "webvision, folder:PATH, csv:PATH, features:PATH");
}

TEST(Datasets, HaveDistinctNamesAndDescriptions) {
  std::set<std::string_view> names;
  for (const auto& info : datasets()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.description.empty()) << info.name;
    EXPECT_FALSE(info.advice.empty()) << info.name;
  }
}

TEST(Datasets, WithoutADefaultFolderOneMustBeGiven) {
  EXPECT_EQ(user_error([] { load_dataset("mnist"); }),
            "mnist has no default folder; fetch its four files and give their folder by --data-dir");
}

TEST(Datasets, APathFollowsTheNameWhereTheDatasetTakesOneAndOnlyThere) {
  EXPECT_EQ(user_error([] { load_dataset("folder"); }), "folder needs a path; give folder:PATH");
  EXPECT_EQ(user_error([] { load_dataset("csv:"); }), "csv needs a path; give csv:FILE");
  EXPECT_EQ(user_error([] { load_dataset("mnist:/data"); }), "mnist takes no path; give its folder by --data-dir");
  EXPECT_EQ(user_error([] { load_dataset("folder:/data", {.data_dir = "/other"}); }),
            "folder:/data brings its own path; leave out --data-dir");
  EXPECT_EQ(user_error([] { load_dataset("folder:/none:at:all"); }), "/none:at:all: no such folder; give folder:PATH");
}

}  // namespace
}  // namespace regroup
