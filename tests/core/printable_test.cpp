#include "regroup/core/printable.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

const std::string bad = "\xEF\xBF\xBD";

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const std::string text : {"", "T-shirt/top", "Zürich, 猫, 🐈", "a\xEF\xBF\xBF"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, NothingReachesTheTerminalAsACommand) {
  EXPECT_EQ(printable("\x1b[2Jcat\a\x7f"), bad + "[2Jcat" + bad + bad);
  EXPECT_EQ(printable("\r\n\t"), bad + bad + bad);
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            bad + "31m");
  // In pieces, so that this file does not turn its own direction of writing.
  EXPECT_EQ(printable(std::string("\xE2\x80") + "\xAE" + "gpj" + "\xE2\x81" + "\xA6"), bad + "gpj" + bad);
}

TEST(Printable, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(printable("\xFF\xFE"), bad + bad);
  EXPECT_EQ(printable("a\xC3"), "a" + bad);
  EXPECT_EQ(printable("\xC0\x9B"), bad + bad);            // an escape in two bytes
  EXPECT_EQ(printable("\xED\xA0\x80"), bad + bad + bad);  // half of a pair of UTF-16
  EXPECT_EQ(printable("\xF4\x90\x80\x80").size(), 4 * bad.size());
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            bad + "31m");
}

TEST(Printable, LinesStayLinesWhereTheyAreAskedFor) {
  EXPECT_EQ(printable_lines("a\tb\nc\r\x1b"), "a\tb\nc" + bad + bad);
}

}  // namespace
}  // namespace regroup
