#include "setting_flags.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace regroup {
namespace {

/// What the flags are given for a command line, as `name=text` words.
std::string given(const std::vector<SettingInfo>& declared, std::vector<std::string> arguments) {
  CLI::App app;
  const SettingFlags flags(app, declared);
  std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
  app.parse(arguments);
  std::string words;
  for (const GivenValue& value : flags.given()) words += fmt::format("{}={} ", value.name, to_text(value.value));
  return words;
}

TEST(SettingFlags, ANameMayBeASwitchForOneMethodAndTakeAValueForAnother) {
  const std::vector<SettingInfo> mixed{{"mix", "A", false, "A switch"},
                                       {"mix", "B", 1.0, "A number"},
                                       {"lr", "A", 0.1, "A rate"},
                                       {"labels", "A", std::string("x"), "A file"}};
  EXPECT_EQ(given(mixed, {"--mix"}), "mix=true ");
  EXPECT_EQ(given(mixed, {"--mix", "0.5"}), "mix=0.5 ");
  EXPECT_EQ(given(mixed, {"--mix", "--lr", "2"}), "lr=2 mix=true ");
  EXPECT_EQ(given(mixed, {"--labels", ""}), "labels= ");
  EXPECT_EQ(given({{"mix", "A", false, "A switch"}}, {"--mix"}), "mix=true ");
  EXPECT_EQ(given({{"mix", "A", false, "A switch"}}, {"--mix=false"}), "mix=false ");
}

TEST(SettingFlags, TheHelpHasTheSettingsOfOneMethodWithTheirValues) {
  CLI::App app;
  SettingFlags flags(app, all_settings());
  flags.describe(run_settings({{"method", "rml-semi"}, {"recipe", "fast"}, {"mix-alpha", "7"}}));
  const std::string help = app.help();
  for (const char* line :
       {"Method rml-semi:", "in the first half of the run: mixing shares come from Beta(alpha, alpha) [7]", "[24]",
        "[on; --nesterov=false]"})
    EXPECT_NE(help.find(line), std::string::npos) << line << " is not in:\n" << help;
  flags.describe(run_settings({{"method", "ce"}}));
  for (const char* flag : {"--mix-alpha", "--k ", "Method "})
    EXPECT_EQ(app.help().find(flag), std::string::npos) << flag << " is in:\n" << app.help();
}

}  // namespace
}  // namespace regroup
