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

std::string range_of(const SettingInfo& info) {
  if (!info.choices.empty()) return fmt::format("{}", fmt::join(info.choices, ", "));
  if (std::holds_alternative<bool>(info.fallback)) return "true, false";
  if (std::holds_alternative<std::string>(info.fallback)) return "a text";
  const char* kind = std::holds_alternative<std::int64_t>(info.fallback) ? "whole number" : "number";
  return std::isinf(info.low) ? kind : fmt::format("{}, {:g} to {:g}", kind, info.low, info.high);
}

void print_reference() {
  print_out(
      "# Settings\n\nEach is a flag of `regroup train` (`--name VALUE`) and a key of its TOML files (`name = VALUE`). "
      "This "
      "page is\nwhat `regroup reference` prints.\n");
  std::string_view group;
  for (const SettingInfo& info : all_settings()) {
    if (info.group != group)
      print_out("\n## {}\n\n| name | default | values | |\n| --- | --- | --- | --- |\n", info.group);
    group = info.group;
    const std::string fallback = to_text(info.fallback);
    print_out("| `{}` | {} | {} | {} |\n", info.name, fallback.empty() ? "" : "`" + fallback + "`", range_of(info),
              info.help);
  }
  print_out("\n## Recipes\n\nA recipe changes defaults, and nothing that was given.\n");
  for (const Recipe& recipe : recipes()) {
    print_out("\n`{}`: {}.\n", recipe.name, recipe.description);
    for (const auto& [name, value] : recipe.values) print_out("- `{} = {}`\n", name, to_text(value));
    for (const auto& [method, name, value] : recipe.exceptions)
      print_out("- `{} = {}` with the method `{}`\n", name, to_text(value), method);
  }
}

}  // namespace

void add_reference_command(CLI::App& app) {
  app.add_subcommand("reference", "Print every setting of a run as Markdown")->callback(print_reference);
}

}  // namespace regroup
