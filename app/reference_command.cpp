// regroup reference: every setting of a run, as docs/SETTINGS.md has them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string_view>

#include "cli.h"
#include "output.h"
#include "regroup/methods/method.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

constexpr const char* table_head = "\n| name | default | values | |\n| --- | --- | --- | --- |\n";

std::string range_of(const SettingInfo& info) {
  if (!info.choices.empty()) return fmt::format("{}", fmt::join(info.choices, ", "));
  if (std::holds_alternative<bool>(info.fallback)) return "true, false";
  if (std::holds_alternative<std::string>(info.fallback)) return "a text";
  const char* kind = std::holds_alternative<std::int64_t>(info.fallback) ? "whole number" : "number";
  return std::isinf(info.low) ? kind : fmt::format("{}, {:g} to {:g}", kind, info.low, info.high);
}

void print_setting(const SettingInfo& info) {
  const std::string fallback = to_text(info.fallback);
  print_out("| `{}` | {} | {} | {} |\n", info.name, fallback.empty() ? "" : "`" + fallback + "`", range_of(info),
            info.help);
}

/// What a method has otherwise than its declarations and the recipe say.
std::vector<std::string> changes_of(const MethodInfo& method, const Recipe& recipe) {
  MethodInfo plain = method;
  plain.defaults.clear();
  plain.recipes.clear();
  const Settings without = default_settings(plain, recipe), with = default_settings(method, recipe);
  std::vector<std::string> changes;
  for (const SettingInfo& info : with.all())
    if (with.value(info.name) != without.value(info.name))
      changes.push_back(fmt::format("`{} = {}`", info.name, to_text(with.value(info.name))));
  return changes;
}

void print_method(const MethodInfo& method) {
  print_out("\n## Method `{}`\n\n{}.\n", method.name, method.description);
  for (const Recipe& recipe : recipes())
    if (const auto changes = changes_of(method, recipe); !changes.empty())
      print_out("\nDefaults of its own with the recipe `{}`: {}.\n", recipe.name, fmt::join(changes, ", "));
  if (method.settings.empty()) return;
  print_out("{}", table_head);
  for (const SettingInfo& info : method.settings) print_setting(info);
}

void print_reference() {
  print_out(
      "# Settings\n\nEach is a flag of `regroup train` (`--name VALUE`) and a key of its TOML files (`name = VALUE`). "
      "A "
      "run has the\nsettings that all runs have, and those of its method. This page is what `regroup reference` "
      "prints.\n");
  std::string_view group;
  for (const SettingInfo& info : common_settings()) {
    if (info.group != group) print_out("\n## {}\n{}", info.group, table_head);
    group = info.group;
    print_setting(info);
  }
  print_out("\n## Recipes\n\nA recipe changes defaults, and nothing that was given.\n");
  for (const Recipe& recipe : recipes()) {
    print_out("\n`{}`: {}.\n", recipe.name, recipe.description);
    for (const auto& [name, value] : recipe.values) print_out("- `{} = {}`\n", name, to_text(value));
  }
  for (const MethodInfo& method : methods()) print_method(method);
}

}  // namespace

void add_reference_command(CLI::App& app) {
  app.add_subcommand("reference", "Print every setting of a run as Markdown")->callback(print_reference);
}

}  // namespace regroup
