#include "regroup/core/settings.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/user_error.h"

namespace regroup {
namespace {

Settings some_settings() {
  return Settings({{"epochs", "Training", std::int64_t{20}, "Passes", 1, 100},
                   {"lr", "Training", 0.1, "Rate", 0, 10},
                   {"nesterov", "Training", false, "Form"},
                   {"schedule", "Training", std::string("cosine"), "Fall", 0, 0, {"cosine", "linear"}},
                   {"k", "RML", std::string("auto"), "Count"}});
}

TEST(Settings, HaveTheirDefaults) {
  const Settings settings = some_settings();
  EXPECT_EQ(settings.integer("epochs"), 20);
  EXPECT_EQ(settings.number("lr"), 0.1);
  EXPECT_FALSE(settings.flag("nesterov"));
  EXPECT_EQ(settings.text("schedule"), "cosine");
}

TEST(Settings, TakeValuesOfTheirType) {
  Settings settings = some_settings();
  settings.set_text("epochs", "30", "--epochs");
  settings.set_text("nesterov", "true", "--nesterov");
  settings.set("lr", std::int64_t{1}, "file: lr");
  settings.set("k", std::int64_t{200}, "file: k");
  EXPECT_EQ(settings.integer("epochs"), 30);
  EXPECT_TRUE(settings.flag("nesterov"));
  EXPECT_EQ(settings.number("lr"), 1.0);
  EXPECT_EQ(settings.text("k"), "200");
}

TEST(Settings, RefuseWhatDoesNotFitInOneSentence) {
  Settings settings = some_settings();
  EXPECT_EQ(user_error([&] { settings.set_text("epochs", "many", "--epochs"); }),
            "--epochs: 'many' is not a whole number");
  EXPECT_EQ(user_error([&] { settings.set_text("epochs", "2.5", "--epochs"); }),
            "--epochs: '2.5' is not a whole number");
  EXPECT_EQ(user_error([&] { settings.set_text("epochs", "0", "--epochs"); }),
            "--epochs: 0 is out of bounds; it must be in 1 .. 100");
  EXPECT_EQ(user_error([&] { settings.set_text("epochs", "18446744073709551616", "--epochs"); }),
            "--epochs: 18446744073709551616 is out of bounds; it must be in 1 .. 100");
  EXPECT_EQ(user_error([&] { settings.set_text("lr", "1e999", "--lr"); }),
            "--lr: 1e999 is out of bounds; it must be in 0 .. 10");
  EXPECT_EQ(user_error([&] { settings.set_text("epochs", "18446744073709551616x", "--epochs"); }),
            "--epochs: '18446744073709551616x' is not a whole number");
  EXPECT_EQ(user_error([&] { settings.set_text("lr", "nan", "--lr"); }),
            "--lr: nan is out of bounds; it must be in 0 .. 10");
  EXPECT_EQ(user_error([&] { settings.set_text("schedule", "fast", "--schedule"); }),
            "--schedule: unknown 'fast'; known: cosine, linear");
  EXPECT_EQ(user_error([&] { settings.set_text("epoch", "3", "run.toml: epoch"); }),
            "run.toml: epoch: there is no setting 'epoch'");
  EXPECT_EQ(settings.integer("epochs"), 20);
}

TEST(Settings, AnUndeclaredNameIsAMistakeOfTheProgram) {
  EXPECT_THROW(some_settings().integer("epoch"), std::logic_error);
}

TEST(Settings, TheLaterOfTwoDeclarationsCounts) {
  const Settings settings({{"lr", "Training", 0.1, "Rate"}, {"lr", "Method", 0.02, "Rate"}});
  EXPECT_EQ(settings.number("lr"), 0.02);
  EXPECT_EQ(settings.all().size(), 1U);
}

}  // namespace
}  // namespace regroup
