#include "regroup/io/text_file.h"

#include <gtest/gtest.h>

#include "support/data_testing.h"

namespace regroup {
namespace {

TEST(TextFile, IsReadWholePlainAndGzip) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 65'536U, 200'001U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(read_text(folder.write("t", text)), text);
    EXPECT_EQ(read_text(folder.write("t", gzip(Bytes(size, 'x')))), text);
  }
}

TEST(TextFile, AFileThatIsTooLargeIsCutOffEarly) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_text(folder.write("t", std::string(10, 'x')), 10), std::string(10, 'x'));
  const auto bomb = folder.write("t", gzip(Bytes(5'000'000)));
  EXPECT_EQ(user_error([&] { read_text(bomb, 100'000); }),
            bomb.string() + ": more than 100000 bytes; is it the right file?");
}

TEST(TextFile, LinesEndInOneWayOrTheOther) {
  EXPECT_EQ(lines("a\r\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines("a\n"), std::vector<std::string_view>{"a"});
  EXPECT_TRUE(lines("").empty());
}

TEST(TextFile, IsShownShortAndPrintable) {
  EXPECT_EQ(shown("\x1b[2Jcat"), "\xEF\xBF\xBD[2Jcat");
  EXPECT_EQ(shown(std::string(59, 'a') + "\xC3\xBC" + "b"), std::string(59, 'a'));
  EXPECT_EQ(shown(std::string(58, 'a') + "\xC3\xBC" + "b"), std::string(58, 'a') + "\xC3\xBC");
}

TEST(WholeNumber, IsDigitsAndNothingElse) {
  EXPECT_EQ(whole_number("-12"), -12);
  EXPECT_EQ(whole_number("007"), 7);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "99999999999999999999", "-"})
    EXPECT_FALSE(whole_number(text)) << text;
}

}  // namespace
}  // namespace regroup
