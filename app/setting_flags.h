#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/train/run_settings.h"

namespace regroup {

/// A flag for each name among declared settings. What its value means is left to the run's method, which may itself
/// come from a flag: several methods may have a setting of one name.
class SettingFlags {
 public:
  SettingFlags(CLI::App& command, const std::vector<SettingInfo>& declared);

  /// What was given on the command line, as it was typed.
  std::vector<GivenValue> given() const;

  /// The help shows these settings with their values as defaults, those of their method under a heading of its own, and
  /// no others.
  void describe(const Settings& settings);

 private:
  std::map<std::string, CLI::Option*, std::less<>> options_;
};

}  // namespace regroup
