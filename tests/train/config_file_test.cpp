#include "regroup/io/toml_file.h"

#include <gtest/gtest.h>

#include "regroup/train/run_settings.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(TomlFile, WhatNestsDeeperThanTheStackIsRefused) {
  constexpr int many = 100'000;
  for (const std::string& text : {
           "a" + repeated(".a", many) + " = 1",
           "\n" + repeated("\"a\" . ", many) + "b = 1",
           "[a" + repeated(".a", many) + "]\n",
           "[[a" + repeated(".a", many) + "]]\n",
           "a = " + repeated("[", many) + repeated("]", many),
           "a = " + repeated("{a = ", many) + "1" + repeated("}", many),
           "a = " + repeated("[\n#]\n", many),
           "a = { b" + repeated(".a", many) + " = 1 }",
           "a = \"\\\"\"\nb = '\\'\nc = \"\"\"\"]\"\"\"\"\"\na" + repeated(".a", many) + " = 1",
           "a = ''''''\nb" + repeated(".'''", many) + " = 1",
       }) {
    const std::string said = user_error([&] { parse_config(text, "run.toml"); });
    EXPECT_NE(said.find("nests deeper than 16 levels"), std::string::npos) << text.substr(0, 40) << ": " << said;
  }
  EXPECT_EQ(user_error([] { parse_toml("\n\na" + repeated(".a", 17) + " = 1", "run.toml"); }),
            "run.toml, line 3: nests deeper than 16 levels; is it the right file?");
}

TEST(TomlFile, DotsAndBracketsThatDoNotNestAreFine) {
  const std::string dots(100, '.'), brackets(100, '[');
  const toml::table table =
      parse_toml("# " + dots + brackets + "'\n" +                               //
                     "basic = \"" + dots + brackets + "\\\"" + dots + "\"\n" +  //
                     "literal = '" + dots + brackets + "\\'\n" +                //
                     "long = \"\"\"\n" + dots + "\"\"" + brackets + "\n\"\"\"\"\"\n" + "raw = '''" + dots + "\n'" +
                     brackets + "'''\n" + "list = [" + repeated("0.5, ", 100) + repeated("[1.5], ", 100) + "]\n" +
                     "\"" + dots + "\".\"" + brackets + "\" = 1979-05-27T00:32:00.999\n" + repeated("[[a.b.c]]\n", 100),
                 "run.toml");
  EXPECT_EQ(table["list"].as_array()->size(), 200U);
  EXPECT_EQ(table["long"].value<std::string>(), dots + "\"\"" + brackets + "\n\"\"");
  EXPECT_EQ(table["a"]["b"]["c"].as_array()->size(), 100U);
}

TEST(TomlFile, LettersOutsideOfQuotesAreMistakes) {
  for (const std::string text : {"b = Zürich", "ü = 1", "\xEF\xB5\xBF = 1", "b = [2\"ü"})
    EXPECT_EQ(user_error([&] { parse_toml("a = 1\n" + text, "run.toml"); }).rfind("run.toml, line 2: ", 0), 0U) << text;
  EXPECT_EQ(parse_toml("a = \"\"\"\\\n ü\"\"\"", "run.toml")["a"].value<std::string>(), "ü");
}

TEST(TomlFile, AFileThatIsTooLargeIsRefused) {
  EXPECT_EQ(user_error([] { parse_toml(std::string(max_toml_bytes + 1, '\n'), "run.toml"); }),
            "run.toml: more than 1048576 bytes; is it the right file?");
}

}  // namespace
}  // namespace regroup
