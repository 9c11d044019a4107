#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/core/settings.h"

namespace regroup {

/// Settings that every run has, whatever its method.
std::vector<SettingInfo> common_settings();

/// All settings that there are: those of every run, and those of each method.
std::vector<SettingInfo> all_settings();

/// A value that somebody gave for a setting.
struct GivenValue {
  std::string name;
  SettingValue value;
  std::string source;     ///< for the messages: `--lr`, `run.toml: lr`
  bool optional = false;  ///< dropped where the method has no such setting: a preset serves other methods too
};

/// A recipe: how a network is optimised, apart from the method.
struct Recipe {
  std::string_view name;
  std::string_view description;
  std::vector<std::pair<std::string_view, SettingValue>> values;

  /// What it has otherwise for one method.
  struct Exception {
    std::string_view method, name;
    SettingValue value;
  };
  std::vector<Exception> exceptions = {};
};
const std::vector<Recipe>& recipes();

/// The settings of a run. `layers` are given from weak to strong: preset, file, command line. Under them lie, from weak
/// to strong, the declared defaults, the method's own and the recipe's. A setting of another method than the run's is
/// refused.
Settings resolve_settings(const std::vector<std::vector<GivenValue>>& layers);

/// A shorter form for programs: resolve_settings({{"data", "cifar10"}, {"method", "rml"}, {"epochs", "20"}}).
Settings run_settings(const std::vector<std::pair<std::string, std::string>>& values);

/// Reads `name = value` pairs, a TOML file.
std::vector<GivenValue> parse_config(std::string_view toml, const std::string& name);
std::vector<GivenValue> read_config(const std::string& file);

/// All values as TOML that read_config reads.
std::string config_text(const Settings& settings);

struct Preset {
  std::string_view name;
  std::string_view text;  ///< its TOML file
};
const std::vector<Preset>& presets();

/// The values of a preset. Throws UserError that lists the known ones.
std::vector<GivenValue> preset_values(std::string_view name);

}  // namespace regroup
