#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace regroup {

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in.good()) << file;
  return text.str();
}

/// metrics.csv and summary.json, but for what measures the machine: times and memory.
inline std::string figures_of(const std::filesystem::path& run) {
  std::istringstream csv(bytes_of(run / "metrics.csv"));
  std::string text, line, field;
  std::vector<bool> is_figure;
  const auto measures_the_machine = [](const std::string& name) {
    return name.find("second") != std::string::npos || name.find("memory") != std::string::npos;
  };
  while (std::getline(csv, line)) {
    std::istringstream fields(line);
    const bool is_header = is_figure.empty();
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i) {
      if (is_header) is_figure.push_back(!measures_the_machine(field));
      if (is_figure.at(i)) text += field + ",";
    }
    text += "\n";
  }
  std::istringstream json(bytes_of(run / "summary.json"));
  while (std::getline(json, line))
    if (!measures_the_machine(line)) text += line + "\n";
  return text;
}

}  // namespace regroup
