#include <fmt/format.h>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"
#include "regroup/io/toml_file.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_value(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  std::string result = to_text(value);
  // 1 is a whole number in TOML, 1.0 is not.
  if (std::holds_alternative<double>(value) && result.find_first_of(".en") == std::string::npos) result += ".0";
  return result;
}

}  // namespace

std::vector<GivenValue> parse_config(std::string_view toml, const std::string& name) {
  const toml::table table = parse_toml(toml, name);
  std::vector<GivenValue> values;
  for (const auto& [key, node] : table) {
    const std::string setting(key.str()), source = fmt::format("{}: {}", name, setting);
    if (const auto* boolean = node.as_boolean()) {
      values.push_back({setting, boolean->get(), source});
    } else if (const auto* integer = node.as_integer()) {
      values.push_back({setting, integer->get(), source});
    } else if (const auto* number = node.as_floating_point()) {
      values.push_back({setting, number->get(), source});
    } else if (const auto* text = node.as_string()) {
      values.push_back({setting, text->get(), source});
    } else {
      throw UserError(fmt::format("{}: is neither a number, a text, true nor false", source));
    }
  }
  return values;
}

std::vector<GivenValue> read_config(const std::string& file) {
  return parse_config(read_text(file, max_toml_bytes), file);
}

std::string config_text(const Settings& settings) {
  std::string text;
  std::string_view group;
  for (const SettingInfo& info : settings.all()) {
    if (info.group != group) text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", info.group);
    group = info.group;
    text += fmt::format("{} = {}\n", info.name, toml_value(settings.value(info.name)));
  }
  return text;
}

std::string config_text(const std::vector<GivenValue>& values) {
  std::string text;
  for (const GivenValue& given : values) text += fmt::format("{} = {}\n", given.name, toml_value(given.value));
  return text;
}

}  // namespace regroup
