#include "regroup/report/text_table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace regroup {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(TextTable, NumbersStandAtTheRightAndWordsAtTheLeft) {
  EXPECT_EQ(text_table({"method", "top1", "time", "note"},
                       Rows{{"ce", "9.5%", "0:07", "1st"}, {"rml-semi", "93.1%", "12:35", "x"}, {"rml", "-", "", "y"}}),
            "method     top1   time  note\n"
            "ce         9.5%   0:07  1st\n"
            "rml-semi  93.1%  12:35  x\n"
            "rml           -         y\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) {
  EXPECT_EQ(text_table({"class", "acc"}, Rows{{"m\u00e4nner", "93.1 \u00b1 0.2"}, {"frauen", "7"}}),
            "class          acc\n"
            "m\u00e4nner  93.1 \u00b1 0.2\n"
            "frauen           7\n");
}

TEST(TextTable, ShortRowsAndNoRowsAreFine) {
  EXPECT_EQ(text_table({"a", "b"}, {}), "a  b\n");
  EXPECT_EQ(text_table({}, {}), "\n");
  EXPECT_EQ(text_table({"a", "b"}, Rows{{"x"}}), "a  b\nx\n");
  EXPECT_THROW(text_table({"a"}, Rows{{"x", "y"}}), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
