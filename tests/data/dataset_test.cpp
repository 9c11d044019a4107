#include "regroup/data/dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "data_testing.h"

namespace regroup {
namespace {

TEST(Datasets, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(user_error([] { load_dataset("mnits", std::nullopt); }),
            "unknown dataset 'mnits'; known: fashion-mnist, mnist");
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
  EXPECT_EQ(user_error([] { load_dataset("mnist", std::nullopt); }),
            "mnist has no default folder; fetch its four files and give their folder by --data-dir");
}

}  // namespace
}  // namespace regroup
