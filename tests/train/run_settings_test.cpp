#include "regroup/train/run_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "regroup/methods/method.h"
#include "regroup/methods/schedule.h"
#include "regroup/train/duration.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::vector<GivenValue> given(const std::string& name, const SettingValue& value) {
  return {{name, value, "--" + name}};
}

TEST(RunSettings, TheCommandLineIsStrongerThanAFileAndThatThanAPreset) {
  const std::vector<GivenValue> preset{{"epochs", std::int64_t{200}, "preset x", /*optional=*/true}};
  EXPECT_EQ(resolve_settings({preset}).integer("epochs"), 200);
  EXPECT_EQ(resolve_settings({preset, given("epochs", std::int64_t{20})}).integer("epochs"), 20);
  EXPECT_EQ(
      resolve_settings({preset, given("epochs", std::int64_t{20}), given("epochs", std::int64_t{5})}).integer("epochs"),
      5);
}

std::vector<GivenValue> typed(const std::string& name, const std::string& text) {
  return {{.name = name, .value = text, .source = "--" + name, .is_typed = true}};
}

const Recipe& paper() { return recipes().front(); }

TEST(RunSettings, TheSameNameHasAnotherDefaultInAnotherMethod) {
  EXPECT_EQ(run_settings({{"method", "mixup"}}).number("mix-alpha"), 1);
  EXPECT_EQ(run_settings({{"method", "rml-semi"}}).number("mix-alpha"), 4);
}

TEST(RunSettings, TheSameNameMayHaveAnotherTypeInAnotherMethod) {
  MethodInfo counts, names;
  counts.settings = {{"views", "Counts", std::int64_t{2}, "Views", 1, 4}};
  names.settings = {{"views", "Names", std::string("weak"), "Views", 0, 0, {"weak", "strong"}}};
  Settings count = default_settings(counts, paper()), name = default_settings(names, paper());
  count.set_text("views", "3", "--views");
  name.set_text("views", "strong", "--views");
  EXPECT_EQ(count.integer("views"), 3);
  EXPECT_EQ(name.text("views"), "strong");
  EXPECT_EQ(user_error([&] { count.set_text("views", "strong", "--views"); }),
            "--views: 'strong' is not a whole number");
}

TEST(RunSettings, WhatIsTypedIsReadByTheMethodThatTheRunHas) {
  const auto file = given("method", std::string("mixup"));
  EXPECT_EQ(resolve_settings({file, typed("mix-alpha", "0.5")}).number("mix-alpha"), 0.5);
  EXPECT_EQ(user_error([&] {
              resolve_settings({file, typed("mix-alpha", "much")});
            }),
            "--mix-alpha: 'much' is not a number");
  EXPECT_EQ(user_error([&] {
              resolve_settings({file, typed("k", "200")});
            }),
            "--k: belongs to the methods rml and rml-semi, and the method is mixup");
  EXPECT_EQ(user_error([&] {
              resolve_settings({file, typed("epochs", "many")});
            }),
            "--epochs: 'many' is not a whole number");
  EXPECT_TRUE(user_error([] {
                resolve_settings({typed("method", "rmll")});
              }).starts_with("--method: unknown 'rmll'; known: ce, mixup, "));
  EXPECT_EQ(user_error([] { resolve_settings({given("epochs", std::string("3"))}); }),
            "--epochs: '3' is not a whole number")
      << "a text in a file is a text";
}

TEST(RunSettings, APresetsValueIsForMethodsThatShareTheSetting) {
  auto preset = parse_config("method = 'rml-semi'\nmix-alpha = 9.0\nk = '60'\nwarmup-epochs = 50", "preset x");
  for (GivenValue& value : preset) value.optional = true;
  EXPECT_EQ(resolve_settings({preset}).number("mix-alpha"), 9);
  EXPECT_EQ(resolve_settings({preset, given("method", std::string("mixup"))}).number("mix-alpha"), 1);
  EXPECT_EQ(resolve_settings({preset, given("method", std::string("rml"))}).text("k"), "60");
}

TEST(RunSettings, FromWeakToStrongComeDeclarationMethodRecipeAndTheMethodsRecipe) {
  const Recipe recipe{"fast", "", {{"lr", 0.3}, {"epochs", std::int64_t{30}}}};
  MethodInfo method;
  method.settings = {{"views", "Counts", std::int64_t{2}, "Views"}};
  EXPECT_EQ(default_settings(method, paper()).number("lr"), 0.1);
  method.defaults = {{"lr", 0.2}, {"epochs", std::int64_t{20}}};
  EXPECT_EQ(default_settings(method, paper()).number("lr"), 0.2);
  EXPECT_EQ(default_settings(method, recipe).number("lr"), 0.3);
  method.recipes = {{"fast", {{"lr", 0.4}, {"views", std::int64_t{4}}}}};
  const Settings settings = default_settings(method, recipe);
  EXPECT_EQ(settings.number("lr"), 0.4);
  EXPECT_EQ(settings.integer("epochs"), 30);
  EXPECT_EQ(settings.integer("views"), 4);
  EXPECT_EQ(default_settings(method, paper()).integer("views"), 2);
}

TEST(RunSettings, EveryMethodHasSoundDefaultsUnderEveryRecipe) {
  for (const MethodInfo& method : methods()) {
    for (const Recipe& recipe : recipes()) EXPECT_NO_THROW(default_settings(method, recipe)) << method.name;
    for (const MethodInfo::RecipeValues& own : method.recipes)
      EXPECT_TRUE(std::any_of(recipes().begin(), recipes().end(), [&](const auto& r) { return r.name == own.recipe; }))
          << method.name << " changes a recipe that there is not: " << own.recipe;
  }
}

TEST(RunSettings, ARecipeMayHaveAValueOfItsOwnForAMethod) {
  const Settings fast = run_settings({{"method", "rml-semi"}, {"recipe", "fast"}});
  EXPECT_EQ(fast.number("lr"), 0.75);
  EXPECT_EQ(fast.integer("epochs"), 24);
  EXPECT_EQ(fast.number("semi-lr"), 0.03);
  const Settings paper = run_settings({{"method", "rml-semi"}});
  EXPECT_EQ(paper.number("lr"), 0.02);
  EXPECT_EQ(paper.number("semi-lr"), 0);
  const Settings given = run_settings({{"method", "rml-semi"}, {"recipe", "fast"}, {"semi-lr", "0.3"}});
  EXPECT_EQ(given.number("semi-lr"), 0.3);
}

TEST(RunSettings, EveryHelpTextIsAShortLine) {
  for (const SettingInfo& info : all_settings()) {
    ASSERT_FALSE(info.help.empty()) << info.name;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(info.help.front()))) << info.help;
    EXPECT_TRUE(info.help.size() <= 160 && info.help.find('\n') == std::string_view::npos) << info.help;
    EXPECT_NE(info.help.back(), '.') << info.help;
  }
}

TEST(RunSettings, AllThatTheyWriteTheyRead) {
  Settings settings =
      run_settings({{"data", "folder:a \"b\"\\c\n"}, {"lr", "1"}, {"k", "200"}, {"no-loss-processing", "true"}});
  const Settings read = resolve_settings({parse_config(config_text(settings), "config.toml")});
  for (const SettingInfo& info : settings.all())
    EXPECT_EQ(read.value(info.name), settings.value(info.name)) << info.name;
}

TEST(RunSettings, AnotherMethodsSettingIsRefused) {
  EXPECT_EQ(user_error([] {
              run_settings({{"method", "ce"}, {"k", "200"}});
            }),
            "k: belongs to the methods rml and rml-semi, and the method is ce");
}

TEST(RunSettings, WrongFilesAreExplained) {
  EXPECT_NE(user_error([] { parse_config("epochs = = 3", "run.toml"); }).find("run.toml, line 1: "), std::string::npos);
  EXPECT_EQ(user_error([] { resolve_settings({parse_config("epohcs = 3", "run.toml")}); }),
            "run.toml: epohcs: there is no setting 'epohcs'");
  EXPECT_EQ(user_error([] { parse_config("lr = [1]", "run.toml"); }),
            "run.toml: lr: is neither a number, a text, true nor false");
}

TEST(Schedule, FollowsItsShape) {
  const Settings cosine = run_settings({{"lr", "0.1"}, {"min-lr", "0.0001"}});
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 0), 0.1);
  EXPECT_NEAR(learning_rate(cosine, 0.5), 0.05005, 1e-12);
  EXPECT_NEAR(learning_rate(cosine, 1), 0.0001, 1e-12);
  const Settings steps = run_settings({{"schedule", "steps"}, {"lr", "0.1"}});
  EXPECT_DOUBLE_EQ(learning_rate(steps, 0.49), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(steps, 0.5), 0.01);
  EXPECT_NEAR(learning_rate(steps, 0.75), 0.001, 1e-15);
  const Settings rising =
      run_settings({{"schedule", "linear"}, {"lr", "2"}, {"lr-rise", "0.25"}, {"lr-start", "0.2"}, {"min-lr", "0.2"}});
  EXPECT_NEAR(learning_rate(rising, 0), 0.4, 1e-12);
  EXPECT_NEAR(learning_rate(rising, 0.125), 1.2, 1e-12);
  EXPECT_NEAR(learning_rate(rising, 0.25), 2, 1e-12);
  EXPECT_NEAR(learning_rate(rising, 0.625), 1.1, 1e-12);
  EXPECT_NEAR(learning_rate(rising, 1), 0.2, 1e-12);
  const Settings late = run_settings({{"schedule", "late-linear"}, {"lr", "1"}, {"min-lr", "0"}});
  EXPECT_DOUBLE_EQ(learning_rate(late, 0.4), 1);
  EXPECT_NEAR(learning_rate(late, 0.7), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate(late, 1), 0, 1e-12);
}

TEST(Schedule, StepsWhereItIsTold) {
  const auto rate = [](const char* steps, double share) {
    return learning_rate(run_settings({{"schedule", "steps"}, {"lr", "1"}, {"lr-steps", steps}}), share);
  };
  EXPECT_DOUBLE_EQ(rate("0.5", 0.49), 1);
  EXPECT_DOUBLE_EQ(rate("0.5", 0.9), 0.1);
  EXPECT_NEAR(rate("0.2,0.4 , 0.6", 0.5), 0.01, 1e-15);
  EXPECT_DOUBLE_EQ(rate("", 0.9), 1);
  for (const char* wrong : {"half", "0.5,", "0.5 0.6", "0.6, 0.5", "0", "1", "-0.5", "nan", ", 0.5"})
    EXPECT_NE(user_error([&] { rate(wrong, 0.5); }).find("lr-steps: '"), std::string::npos) << wrong;
}

TEST(Duration, IsReadAndShown) {
  EXPECT_EQ(parse_duration("30s"), 30);
  EXPECT_EQ(parse_duration("5m"), 300);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  EXPECT_EQ(parse_duration("12"), 12);
  EXPECT_EQ(
      parse_duration(resolve_settings({parse_config("checkpoint-every = 5", "run.toml")}).text("checkpoint-every")), 5);
  for (const char* wrong : {"", "5x", "m", "-3s", "0", "nan", "1e999"})
    EXPECT_NE(user_error([&] { parse_duration(wrong); }).find("write 30s, 5m or 1h"), std::string::npos) << wrong;
  EXPECT_EQ(duration_text(48.2), "48 s");
  EXPECT_EQ(duration_text(290), "5 min");
  EXPECT_EQ(duration_text(4800), "1 h 20 min");
}

}  // namespace
}  // namespace regroup
