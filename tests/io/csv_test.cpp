#include "regroup/io/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "support/data_testing.h"

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

rc::Gen<std::vector<Record>> some_records() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<Record>>(rc::gen::nonEmpty(
      rc::gen::container<Record>(rc::gen::container<std::string>(rc::gen::element('a', '"', ',', '\n', '\r', ' '))))));
}

RC_GTEST_PROP(CsvProperty, ReadsFieldsThatAreAllInQuotes, ()) {
  const auto records = *some_records();
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
  std::vector<std::string> told;
  const Tell tell = [&](const std::string& sentence) { told.push_back(sentence); };
  const auto find = [&](const std::string& header) {
    CsvReader reader(header, "f");
    reader.next();
    return find_columns(reader, known, 2, tell);
  };
  EXPECT_EQ(find("label,path"), (std::vector<std::optional<std::size_t>>{1, 0, std::nullopt}));
  EXPECT_EQ(find("LABEL,\" Path \""), (std::vector<std::optional<std::size_t>>{1, 0, std::nullopt}));
  for (const std::string path : {"image", "File", "filename", "file_name", "filepath"})
    EXPECT_EQ(find("label," + path), (std::vector<std::optional<std::size_t>>{1, 0, std::nullopt})) << path;
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(find("path,claen,label,id"), (std::vector<std::optional<std::size_t>>{0, 2, std::nullopt}));
  EXPECT_EQ(told, std::vector<std::string>{"f: columns that are not used: claen, id"});
  EXPECT_EQ(user_error([&] { find("path,label,File"); }),
            "f: line 1: the columns 'path' and 'File' both mean path; leave one out");
  EXPECT_EQ(user_error([&] { find("path"); }),
            "f: line 1: no column 'label' in 'path'; the first line has to name the columns: path, label, clean");
}

std::string row(const Record& fields) {
  CsvWriter csv;
  csv.row(fields);
  return csv.text();
}

TEST(CsvWriter, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(row({"plain text", "", "-1.5"}), "plain text,,-1.5\n");
  EXPECT_EQ(row({" a", "a\t"}), "\" a\",\"a\t\"\n");
  EXPECT_EQ(row({"a,b", "say \"a\""}), "\"a,b\",\"say \"\"a\"\"\"\n");
  EXPECT_EQ(row({"two\nlines"}), "\"two\nlines\"\n");
  EXPECT_EQ(row({""}), "\"\"\n");
}

RC_GTEST_PROP(CsvWriterProperty, WhatIsWrittenIsReadBack, ()) {
  const auto records = *some_records();
  CsvWriter csv;
  for (const auto& record : records) csv.row(record);
  RC_ASSERT(parse(csv.text()) == records);
}

TEST(SpreadsheetText, BeginsLikeNoFormula) {
  for (const std::string text : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=x", "'", "''x"}) {
    EXPECT_EQ(spreadsheet_text(text), "'" + text);
    EXPECT_EQ(plain_text("'" + text), text);
  }
  for (const std::string text : {"", "cat", "a=b", " =1", "1-1"}) {
    EXPECT_EQ(spreadsheet_text(text), text);
    EXPECT_EQ(plain_text(text), text);
  }
  EXPECT_EQ(plain_text("'tis"), "'tis") << "as somebody writes it by hand";
  EXPECT_EQ(plain_text("=1"), "=1");
}

RC_GTEST_PROP(SpreadsheetTextProperty, IsReadBackThroughCsv, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('\'', '=', '-', '\t', '\r', ' ', 'a', ',', '"'));
  const auto records = parse(row({spreadsheet_text(text), "end"}));
  RC_ASSERT(records.size() == 1U);
  RC_ASSERT(plain_text(records[0][0]) == text);
}

}  // namespace
}  // namespace regroup
