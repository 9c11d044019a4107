#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/core/settings.h"

namespace regroup {

struct MethodInfo;

/// Settings that every run has, whatever its method.
std::vector<SettingInfo> common_settings();

/// All declarations that there are: those of every run, and those of each method. Methods may declare settings of the
/// same name, each with a type, a default and bounds of its own.
std::vector<SettingInfo> all_settings();

/// A value that somebody gave for a setting.
struct GivenValue {
  std::string name;
  SettingValue value;
  std::string source;     ///< for the messages: `--lr`, `run.toml: lr`
  bool optional = false;  ///< dropped where the method has no such setting: a preset serves other methods too
  bool is_typed = false;  ///< a text as somebody typed it: what it means depends on the type of the setting
};

/// A recipe: how a network is optimised, apart from the method.
struct Recipe {
  std::string_view name;
  std::string_view description;
  std::vector<std::pair<std::string_view, SettingValue>> values;
};
const std::vector<Recipe>& recipes();

/// What a run has where nothing is given: from weak to strong, the declared defaults, those of the method, the values
/// of the recipe, and what the method has instead of those.
Settings default_settings(const MethodInfo& method, const Recipe& recipe);

/// The settings of a run: those that every run has and those of its method. `layers` are given from weak to strong:
/// preset, file, command line; default_settings lie under them. A setting of another method than the run's is refused.
Settings resolve_settings(const std::vector<std::vector<GivenValue>>& layers);

/// A shorter form for programs: resolve_settings({{"data", "cifar10"}, {"method", "rml"}, {"epochs", "20"}}).
Settings run_settings(const std::vector<std::pair<std::string, std::string>>& values);

/// Reads `name = value` pairs, a TOML file.
std::vector<GivenValue> parse_config(std::string_view toml, const std::string& name);
std::vector<GivenValue> read_config(const std::string& file);

/// All values as TOML that read_config reads.
std::string config_text(const Settings& settings);
std::string config_text(const std::vector<GivenValue>& values);

}  // namespace regroup
