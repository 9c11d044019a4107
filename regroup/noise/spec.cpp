#include "regroup/noise/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "regroup/core/error.h"

namespace regroup {
namespace {

constexpr std::array kinds{
    NoiseKindInfo{NoiseKind::none, "none", NoiseArgument::nothing, "the labels stay as they are"},
    NoiseKindInfo{NoiseKind::symmetric, "symmetric", NoiseArgument::rate,
                  "flips to each of the other classes alike; realised rate = RATE"},
    NoiseKindInfo{NoiseKind::symmetric_all, "symmetric-all", NoiseArgument::rate,
                  "redraws from all classes alike; realised rate = RATE * (1 - 1 / classes)"},
    NoiseKindInfo{NoiseKind::pairflip, "pairflip", NoiseArgument::rate,
                  "flips to the next class, the last to the first"},
    NoiseKindInfo{NoiseKind::instance, "instance", NoiseArgument::rate,
                  "depends on the image: a flip rate of its own around RATE, and its pixels choose the label"},
    NoiseKindInfo{NoiseKind::matrix, "matrix", NoiseArgument::file,
                  "by a transition matrix: a CSV with a row of probabilities for each clean class"},
};

double parse_rate(std::string_view text, const NoiseKindInfo& info) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (!number || !(rate >= 0 && rate <= 1)) {
    throw UserError(
        fmt::format("noise rate '{}' is not a number from 0 to 1; write for example {}:0.4", text, info.name));
  }
  return rate;
}

}  // namespace

std::string NoiseKindInfo::usage() const {
  switch (argument) {
    case NoiseArgument::rate:
      return fmt::format("{}:RATE", name);
    case NoiseArgument::file:
      return fmt::format("{}:FILE", name);
    case NoiseArgument::nothing:
      break;
  }
  return std::string(name);
}

std::span<const NoiseKindInfo> noise_kinds() { return kinds; }

NoiseSpec parse_noise(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const info =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  if (info == kinds.end()) {
    std::vector<std::string_view> names;
    names.reserve(kinds.size());
    for (const auto& kind : kinds) names.push_back(kind.name);
    throw UserError(fmt::format("unknown noise '{}'; known: {}", name, fmt::join(names, ", ")));
  }
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? text.substr(colon + 1) : std::string_view{};
  if (has_argument != (info->argument != NoiseArgument::nothing) || (has_argument && argument.empty())) {
    throw UserError(fmt::format("noise '{}' has to be written as {}", text, info->usage()));
  }
  NoiseSpec spec;
  spec.kind = info->kind;
  if (info->argument == NoiseArgument::rate) spec.rate = parse_rate(argument, *info);
  if (info->argument == NoiseArgument::file) spec.file = argument;
  return spec;
}

}  // namespace regroup
