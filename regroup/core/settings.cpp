#include "regroup/core/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "regroup/core/error.h"

namespace regroup {
namespace {

std::string bounds_of(const SettingInfo& info) {
  if (std::isinf(info.high)) return fmt::format("at least {}", info.low);
  if (std::isinf(info.low)) return fmt::format("at most {}", info.high);
  return fmt::format("in {} .. {}", info.low, info.high);
}

[[noreturn]] void fail_bounds(const SettingInfo& info, const std::string& value, const std::string& source) {
  throw UserError(fmt::format("{}: {} is out of bounds; it must be {}", source, value, bounds_of(info)));
}

/// The number that a text is, or the text. More than a number can be is out of all bounds.
template <class Number>
SettingValue parsed(const SettingInfo& info, const std::string& text, const std::string& source) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (stopped != end || error == std::errc::invalid_argument) return text;
  if (error != std::errc()) fail_bounds(info, text, source);
  return number;
}

void check(const SettingInfo& info, const SettingValue& value, const std::string& source) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (!info.choices.empty() && std::find(info.choices.begin(), info.choices.end(), *text) == info.choices.end())
      throw UserError(fmt::format("{}: unknown '{}'; known: {}", source, *text, fmt::join(info.choices, ", ")));
    return;
  }
  if (std::holds_alternative<bool>(value)) return;
  const double number = std::holds_alternative<double>(value) ? std::get<double>(value)
                                                              : static_cast<double>(std::get<std::int64_t>(value));
  if (!(number >= info.low && number <= info.high)) fail_bounds(info, to_text(value), source);
}

}  // namespace

std::string to_text(const SettingValue& value) {
  struct Printer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double d) const { return fmt::format("{}", d); }
    std::string operator()(const std::string& s) const { return s; }
  };
  return std::visit(Printer{}, value);
}

Settings::Settings(const std::vector<SettingInfo>& declared) {
  for (const SettingInfo& info : declared) {
    const auto same =
        std::find_if(declared_.begin(), declared_.end(), [&](const auto& d) { return d.name == info.name; });
    if (same == declared_.end()) {
      declared_.push_back(info);
    } else {
      *same = info;
    }
    values_[std::string(info.name)] = info.fallback;
  }
}

void Settings::set(std::string_view name, const SettingValue& value, const std::string& source) {
  const auto known = std::find_if(declared_.begin(), declared_.end(), [&](const auto& d) { return d.name == name; });
  if (known == declared_.end()) throw UserError(fmt::format("{}: there is no setting '{}'", source, name));
  SettingValue fitting = value;
  // A whole number is a number, and a text may be written as one (`k = 200` beside `k = "auto"`).
  if (std::holds_alternative<double>(known->fallback) && std::holds_alternative<std::int64_t>(value))
    fitting = static_cast<double>(std::get<std::int64_t>(value));
  if (std::holds_alternative<std::string>(known->fallback) && !std::holds_alternative<std::string>(value))
    fitting = to_text(value);
  if (fitting.index() != known->fallback.index()) {
    constexpr std::string_view kinds[] = {"true or false", "a whole number", "a number", "a text"};
    throw UserError(fmt::format("{}: '{}' is not {}", source, to_text(value), kinds[known->fallback.index()]));
  }
  check(*known, fitting, source);
  values_.find(name)->second = fitting;
}

void Settings::set_text(std::string_view name, const std::string& text, const std::string& source) {
  SettingValue value = text;
  if (declared(name)) {
    const SettingInfo& known = info(name);
    const SettingValue& fallback = known.fallback;
    if (std::holds_alternative<bool>(fallback) && (text == "true" || text == "false")) value = text == "true";
    if (std::holds_alternative<std::int64_t>(fallback)) value = parsed<std::int64_t>(known, text, source);
    if (std::holds_alternative<double>(fallback)) value = parsed<double>(known, text, source);
  }
  set(name, value, source);
}

const SettingInfo& Settings::info(std::string_view name) const {
  const auto known = std::find_if(declared_.begin(), declared_.end(), [&](const auto& d) { return d.name == name; });
  if (known == declared_.end()) throw std::logic_error(fmt::format("setting '{}' was not declared", name));
  return *known;
}

bool Settings::declared(std::string_view name) const { return values_.find(name) != values_.end(); }

const SettingValue& Settings::value(std::string_view name) const {
  info(name);
  return values_.find(name)->second;
}

bool Settings::flag(std::string_view name) const { return std::get<bool>(value(name)); }
std::int64_t Settings::integer(std::string_view name) const { return std::get<std::int64_t>(value(name)); }
double Settings::number(std::string_view name) const { return std::get<double>(value(name)); }
const std::string& Settings::text(std::string_view name) const { return std::get<std::string>(value(name)); }

}  // namespace regroup
