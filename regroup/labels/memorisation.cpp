#include "regroup/labels/memorisation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace regroup {
namespace {

std::vector<float> margins_of(const PredictionRows& rows, double scale) {
  std::vector<float> margins;
  for (std::size_t i = 0; i < rows.size(); ++i)
    margins.push_back(static_cast<float>(scale) * margin_of(rows.row(i), rows.labels[i]));
  std::ranges::sort(margins);
  return margins;
}

/// The means of `count` parts of equal size, of sorted values.
std::vector<float> part_means(std::span<const float> sorted, std::size_t count) {
  std::vector<float> means;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t begin = sorted.size() * k / count, end = sorted.size() * (k + 1) / count;
    const auto part = sorted.subspan(begin, end - begin);
    means.push_back(
        static_cast<float>(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size())));
  }
  return means;
}

/// How far apart the two best classes beside the given label are, as the root of the mean square. Training on the label
/// hardly touches this.
double spread_of_others(const PredictionRows& rows) {
  constexpr float nothing = -3e38F;
  double squares = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float best = nothing, next = nothing;
    const auto row = rows.row(i);
    for (std::size_t y = 0; y < row.size(); ++y) {
      if (y == static_cast<std::size_t>(rows.labels[i])) continue;
      next = std::max(next, std::min(best, row[y]));
      best = std::max(best, row[y]);
    }
    if (next > nothing) squares += static_cast<double>(best - next) * static_cast<double>(best - next);
  }
  return std::sqrt(squares / static_cast<double>(rows.size()));
}

}  // namespace

void Memorisation::undo(std::span<float> row, std::int32_t label) const {
  if (!known) return;
  for (float& score : row) score *= static_cast<float>(scale);
  const float margin = margin_of(row, label);
  // Between two knots on a line; beyond the first and the last as there.
  const auto next = static_cast<std::size_t>(std::ranges::upper_bound(from, margin) - from.begin());
  float change = 0;
  if (next == 0) {
    change = to.front() - from.front();
  } else if (next == from.size()) {
    change = to.back() - from.back();
  } else {
    const float part = (margin - from[next - 1]) / (from[next] - from[next - 1]);
    change = to[next - 1] + part * (to[next] - to[next - 1]) - margin;
  }
  row[static_cast<std::size_t>(label)] += change;
}

double Memorisation::mean_growth() const {
  double sum = 0;
  for (std::size_t k = 0; k < from.size(); ++k) sum += static_cast<double>(from[k] - to[k]);
  return from.empty() ? 0 : sum / static_cast<double>(from.size());
}

Memorisation fit_memorisation(const PredictionRows& trained, const PredictionRows& held_out) {
  // Fewer samples do not tell a bias from chance. A knot has at least 40 of them.
  constexpr std::size_t enough = 50, per_knot = 40, least_knots = 5, most_knots = 25;
  if (trained.size() < enough || held_out.size() < enough) return {};
  Memorisation result;
  const double ratio = spread_of_others(held_out) / spread_of_others(trained);
  if (std::isfinite(ratio) && ratio > 0) result.scale = std::clamp(ratio, 0.1, 10.0);
  const std::vector<float> own = margins_of(trained, result.scale), others = margins_of(held_out, 1);
  const std::size_t knots = std::clamp(others.size() / per_knot, least_knots, most_knots);
  result.from = part_means(own, knots);
  result.to = part_means(others, knots);
  const double mean = std::accumulate(others.begin(), others.end(), 0.0) / static_cast<double>(others.size());
  double squares = 0;
  for (const float margin : others)
    squares += (static_cast<double>(margin) - mean) * (static_cast<double>(margin) - mean);
  result.error = std::sqrt(squares) / static_cast<double>(others.size());
  result.known = true;
  return result;
}

}  // namespace regroup
