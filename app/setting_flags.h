#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/train/run_settings.h"

namespace regroup {

/// A flag for each declared setting, under the headings of their groups.
class SettingFlags {
 public:
  SettingFlags(CLI::App& command, const std::vector<SettingInfo>& settings);

  /// What was given on the command line, checked.
  std::vector<GivenValue> given() const;

 private:
  std::vector<SettingInfo> settings_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, CLI::Option*, std::less<>> options_;
};

}  // namespace regroup
