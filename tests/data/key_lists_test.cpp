#include "regroup/data/key_lists.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "support/user_error.h"

namespace regroup {
namespace {

using Keys = std::vector<std::pair<std::string, int>>;

Keys keys_of(const std::string& text, int classes = 10) {
  Keys found;
  const NamedText list{"list.txt", text};
  for (const LabelledKey& one : labelled_keys(list, classes)) found.emplace_back(one.key, one.label);
  return found;
}

std::string error_of(const std::string& text) {
  return user_error([&] { keys_of(text); });
}

TEST(KeyLists, ALineIsAPathAndALabel) {
  EXPECT_EQ(keys_of("images/0/1.jpg 3\nb.jpg\t0\r\n\n  two words.jpg   9  \n"),
            (Keys{{"images/0/1.jpg", 3}, {"b.jpg", 0}, {"two words.jpg", 9}}));
  EXPECT_EQ(keys_of("last.jpg 1"), (Keys{{"last.jpg", 1}})) << "the last line may have no end";
  EXPECT_TRUE(keys_of("").empty());
}

TEST(KeyLists, SayFileLineAndWhatIsWrong) {
  EXPECT_EQ(error_of("a.jpg 1\nb.jpg\n"), "list.txt: line 2: 'b.jpg' is not a path and the number of a class");
  EXPECT_EQ(error_of("a.jpg one\n"), "list.txt: line 1: 'a.jpg one' is not a path and the number of a class");
  EXPECT_EQ(error_of("7\n"), "list.txt: line 1: '7' is not a path and the number of a class");
  EXPECT_EQ(error_of("a.jpg 1\n\nb.jpg 10\n"), "list.txt: line 3: the label is 10; the classes are 0 to 9");
  EXPECT_EQ(error_of("a.jpg -1\n"), "list.txt: line 1: the label is -1; the classes are 0 to 9");
  EXPECT_EQ(error_of("a.jpg 99999999999999999999\n"),
            "list.txt: line 1: 'a.jpg 99999999999999999999' is not a path and the number of a class");
}

TEST(KeyLists, AKeyHasOneLabel) {
  const NamedText twice{"kv.txt", "b 1\na 2\nb 1\n"}, two{"kv.txt", "b 1\na 2\nb 3\n"};
  EXPECT_EQ(KeyLabels(twice, 10).of("b"), 1);
  EXPECT_EQ(user_error([&] { KeyLabels(two, 10); }),
            "kv.txt: line 3: 'b' has the label 3, and 1 in line 1; keep one of them");
}

RC_GTEST_PROP(KeyListsProperty, FindsWhatAMapWouldFind, ()) {
  const auto known = *rc::gen::container<std::map<int, int>>(rc::gen::inRange(0, 200), rc::gen::inRange(0, 14));
  NamedText list{"kv.txt", ""};
  for (const auto& [key, label] : known) list.text.insert(0, fmt::format("images/{}.jpg {}\n", key, label));
  const KeyLabels labels(list, 14);
  for (int key = 0; key < 200; ++key) {
    const auto found = labels.of(fmt::format("images/{}.jpg", key));
    RC_ASSERT(found.has_value() == known.contains(key));
    if (found) RC_ASSERT(*found == known.at(key));
  }
}

}  // namespace
}  // namespace regroup
