#include "setting_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace regroup {
namespace {

/// The spellings that people know from elsewhere.
std::string spelling_of(std::string_view name) {
  if (name == "batch-size") return "-b,--batch-size";
  if (name == "workers") return "-j,--workers";
  return fmt::format("--{}", name);
}

bool is_switch(const SettingInfo& info) { return std::holds_alternative<bool>(info.fallback); }

std::string help_of(const SettingInfo& info, const SettingValue& value) {
  std::string help(info.help);
  if (!info.choices.empty()) help += fmt::format(" ({})", fmt::join(info.choices, ", "));
  if (is_switch(info)) return std::get<bool>(value) ? fmt::format("{} [on; --{}=false]", help, info.name) : help;
  const std::string text = to_text(value);
  return text.empty() ? help : fmt::format("{} [{}]", help, text);
}

std::string type_of(const SettingInfo& info) {
  constexpr const char* names[] = {"", "COUNT", "NUMBER", "TEXT"};
  return names[info.fallback.index()];
}

}  // namespace

SettingFlags::SettingFlags(CLI::App& command, const std::vector<SettingInfo>& declared) {
  for (const SettingInfo& info : declared) {
    const std::string name(info.name);
    if (options_.contains(name)) continue;
    const auto switches = std::count_if(declared.begin(), declared.end(),
                                        [&](const auto& other) { return other.name == name && is_switch(other); });
    const auto all =
        std::count_if(declared.begin(), declared.end(), [&](const auto& other) { return other.name == name; });
    CLI::Option* option = switches == all ? command.add_flag(spelling_of(name)) : command.add_option(spelling_of(name));
    // A switch for one method, a value for another.
    if (switches > 0 && switches < all) option->expected(0, 1);
    option->description(std::string(info.help))->group(std::string(info.group));
    options_[name] = option;
  }
}

std::vector<GivenValue> SettingFlags::given() const {
  std::vector<GivenValue> values;
  for (const auto& [name, option] : options_) {
    if (option->count() == 0) continue;
    std::string text = option->results().back();
    if (text.empty() && option->get_expected_min() == 0) text = "true";
    values.push_back({.name = name, .value = text, .source = "--" + name, .is_typed = true});
  }
  return values;
}

void SettingFlags::describe(const Settings& settings) {
  for (const auto& [name, option] : options_) option->group("");
  const std::vector<SettingInfo> common = common_settings();
  for (const SettingInfo& info : settings.all()) {
    const bool is_common =
        std::any_of(common.begin(), common.end(), [&](const auto& c) { return c.name == info.name; });
    CLI::Option* const option = options_.find(info.name)->second;
    option->description(help_of(info, settings.value(info.name)));
    option->group(is_common ? std::string(info.group) : fmt::format("Method {}", settings.text("method")));
    option->type_name(type_of(info));
  }
}

}  // namespace regroup
