#include "regroup/data/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "data_testing.h"

namespace regroup {
namespace {

using Record = std::vector<std::string>;

std::vector<Record> parse(const std::string& text) {
  CsvReader reader(text, "f");
  std::vector<Record> records;
  while (reader.next()) records.push_back(reader.fields());
  return records;
}

TEST(Csv, SplitsLinesAndFields) {
  EXPECT_EQ(parse("a,b\n1,2\n"), (std::vector<Record>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse("a, b \r\n1,\t2"), (std::vector<Record>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse("a\n,\n\nb\n\n \r\n"), (std::vector<Record>{{"a"}, {"", ""}, {""}, {"b"}}));
  EXPECT_EQ(parse(""), std::vector<Record>{});
  EXPECT_EQ(parse("\n\n"), std::vector<Record>{});
}

TEST(Csv, QuotedFieldsHoldAnything) {
  EXPECT_EQ(parse("\"a,b\",\" c \"\n\"say \"\"x\"\"\",\"two\nlines\"\n"),
            (std::vector<Record>{{"a,b", " c "}, {"say \"x\"", "two\nlines"}}));
  EXPECT_EQ(parse("5\" disk,\"\"\n"), (std::vector<Record>{{"5\" disk", ""}}));
}

TEST(Csv, CountsLinesThroughQuotes) {
  CsvReader reader("a\n\"b\n\nc\"\nd\n", "f");
  std::vector<std::size_t> lines;
  while (reader.next()) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<std::size_t>{1, 2, 5}));
}

TEST(Csv, SaysWhereItIsWrong) {
  EXPECT_EQ(user_error([] { parse("a\n\"b"); }),
            "f: line 2: a quote is opened and not closed; quotes in a field are doubled");
  EXPECT_EQ(user_error([] { parse("\"a\"b,c"); }),
            "f: line 1: 'b' follows a closed quote; quotes in a field are doubled");
  EXPECT_EQ(user_error([] { parse(std::string("a\n\0", 3)); }), "f: line 2: it has a zero byte; is it a text file?");
}

RC_GTEST_PROP(CsvProperty, ReadsWhatIsWritten, ()) {
  const auto records = *rc::gen::nonEmpty(rc::gen::container<std::vector<Record>>(rc::gen::nonEmpty(
      rc::gen::container<Record>(rc::gen::container<std::string>(rc::gen::element('a', '"', ',', '\n', '\r', ' '))))));
  std::string text;
  for (const auto& record : records) {
    for (std::size_t i = 0; i < record.size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (const char c : record[i]) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += "\r\n";
  }
  RC_ASSERT(parse(text) == records);
}

TEST(Columns, AreFoundInAnyOrder) {
  constexpr std::array<std::string_view, 3> known{"path", "label", "clean"};
  const auto find = [&](const std::string& header) {
    CsvReader reader(header, "f");
    reader.next();
    return find_columns(reader, known, 2);
  };
  EXPECT_EQ(find("label,path"), (std::vector<std::optional<std::size_t>>{1, 0, std::nullopt}));
  EXPECT_EQ(user_error([&] { find("path,label,claen"); }),
            "f: line 1: unknown column 'claen'; known: path, label, clean");
  EXPECT_EQ(user_error([&] { find("path,label,path"); }), "f: line 1: two columns are called 'path'");
  EXPECT_EQ(user_error([&] { find("path"); }),
            "f: line 1: no column 'label'; give a first line that names the columns: path, label, clean");
}

}  // namespace
}  // namespace regroup
