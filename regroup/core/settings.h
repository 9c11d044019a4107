#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace regroup {

using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

/// One setting, declared once: its flag, its key in files, its line in a help text and its check come from here.
struct SettingInfo {
  std::string_view name;   ///< `batch-size`: the flag is --batch-size, the key batch-size
  std::string_view group;  ///< the heading it stands under
  SettingValue fallback;   ///< also says the type
  std::string_view help;
  double low = -std::numeric_limits<double>::infinity();  ///< of a number
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> choices = {};  ///< of a text, where only these are possible
};

std::string to_text(const SettingValue& value);

/// Values for declared settings. Asking for a setting that was not declared is a mistake of the program, and setting
/// one is a mistake of the user.
class Settings {
 public:
  /// Where two declarations have one name, the later one counts.
  explicit Settings(const std::vector<SettingInfo>& declared);

  /// Sets a value after it has been checked. `source` says in the messages where it came from: `--lr`, `run.toml: lr`.
  void set(std::string_view name, const SettingValue& value, const std::string& source);
  void set_text(std::string_view name, const std::string& text, const std::string& source);

  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const SettingValue& value(std::string_view name) const;

  bool declared(std::string_view name) const;

  /// In the order of their declaration.
  const std::vector<SettingInfo>& all() const { return declared_; }

 private:
  const SettingInfo& info(std::string_view name) const;

  std::vector<SettingInfo> declared_;
  std::map<std::string, SettingValue, std::less<>> values_;
};

}  // namespace regroup
