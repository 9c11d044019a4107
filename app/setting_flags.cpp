#include "setting_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regroup {
namespace {

/// The spellings that people know from elsewhere.
std::string spelling_of(std::string_view name) {
  if (name == "batch-size") return "-b,--batch-size";
  if (name == "workers") return "-j,--workers";
  return fmt::format("--{}", name);
}

std::string help_of(const SettingInfo& info) {
  std::string help(info.help);
  if (!info.choices.empty()) help += fmt::format(" ({})", fmt::join(info.choices, ", "));
  const std::string fallback = to_text(info.fallback);
  if (!fallback.empty() && !std::holds_alternative<bool>(info.fallback)) help += fmt::format(" [{}]", fallback);
  return help;
}

std::string type_of(const SettingInfo& info) {
  constexpr const char* names[] = {"", "COUNT", "NUMBER", "TEXT"};
  return names[info.fallback.index()];
}

}  // namespace

SettingFlags::SettingFlags(CLI::App& command, const std::vector<SettingInfo>& settings) : settings_(settings) {
  for (const SettingInfo& info : settings_) {
    const std::string name(info.name);
    CLI::Option* option = std::holds_alternative<bool>(info.fallback)
                              ? command.add_flag(spelling_of(name), texts_[name], help_of(info))
                              : command.add_option(spelling_of(name), texts_[name], help_of(info));
    if (!std::holds_alternative<bool>(info.fallback)) option->type_name(type_of(info));
    option->group(std::string(info.group));
    options_[name] = option;
  }
}

std::vector<GivenValue> SettingFlags::given() const {
  Settings typed(settings_);
  std::vector<GivenValue> values;
  for (const auto& [name, option] : options_) {
    if (option->count() == 0) continue;
    const std::string source = "--" + name;
    typed.set_text(name, texts_.find(name)->second, source);
    values.push_back({name, typed.value(name), source});
  }
  return values;
}

}  // namespace regroup
