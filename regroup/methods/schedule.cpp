#include "regroup/methods/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "regroup/core/error.h"

namespace regroup {

std::vector<double> parse_shares(const std::string& text, const std::string& setting) {
  std::vector<double> shares;
  const char *at = text.data(), *const end = text.data() + text.size();
  const auto fail = [&] {
    throw UserError(
        fmt::format("{}: '{}' is not a list of rising shares of the run, such as 0.5, 0.75", setting, text));
  };
  while (at != end) {
    double share = 0;
    const auto [stopped, error] = std::from_chars(at, end, share);
    if (error != std::errc() || !(share > (shares.empty() ? 0 : shares.back()) && share < 1)) fail();
    shares.push_back(share);
    at = std::find_if_not(stopped, end, [](char c) { return c == ' '; });
    if (at == end) break;
    if (*at != ',') fail();
    at = std::find_if_not(at + 1, end, [](char c) { return c == ' '; });
    if (at == end) fail();
  }
  return shares;
}

int phase_epochs(const Settings& settings, std::string_view name, double paper_length, double paper_epochs) {
  return phase_epochs(settings, name, paper_length, paper_epochs, static_cast<int>(settings.integer("epochs")));
}

int phase_epochs(const Settings& settings, std::string_view name, double paper_length, double paper_epochs,
                 int epochs) {
  const std::int64_t given = settings.integer(name);
  if (given > 0) return static_cast<int>(given);
  return std::max(1, static_cast<int>(std::lround(epochs * paper_length / paper_epochs)));
}

double learning_rate(const Settings& settings, double share) {
  const double peak = settings.number("lr"), rise = settings.number("lr-rise");
  if (share < rise) {
    const double start = settings.number("lr-start");
    return peak * (start + (1 - start) * share / rise);
  }
  const double last = settings.number("min-lr"), done = (share - rise) / (1 - rise);
  const std::string& schedule = settings.text("schedule");
  if (schedule == "cosine") return last + (peak - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
  if (schedule == "linear") return peak + (last - peak) * done;
  if (schedule == "steps") {
    const auto shares = parse_shares(settings.text("lr-steps"), "lr-steps");
    return peak * std::pow(0.1, std::count_if(shares.begin(), shares.end(), [&](double at) { return share >= at; }));
  }
  if (schedule == "late-linear") {
    constexpr double begin = 0.4;
    return peak + (last - peak) * std::max(0.0, (share - begin) / (1 - begin));
  }
  return peak;
}

}  // namespace regroup
