#include "regroup/audit/picture_match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "regroup/audit/dot_kernels.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

constexpr std::size_t side = Detail::side, pixels = side * side;
using Plane = std::array<float, pixels>;

/// What a picture is fitted by: another one, its Laplacian, its derivatives along rows and columns.
constexpr std::size_t terms = 4;
using Matrix = std::array<std::array<double, terms>, terms>;

std::size_t clamped(std::size_t at, int step) {
  return static_cast<std::size_t>(std::clamp(static_cast<int>(at) + step, 0, static_cast<int>(side) - 1));
}

Plane blurred(const Plane& plane) {
  Plane rows{}, out{};
  for (std::size_t y = 0; y < side; ++y) {
    const std::size_t up = clamped(y, -1), down = clamped(y, 1);
    for (std::size_t x = 0; x < side; ++x)
      rows[y * side + x] = (plane[up * side + x] + 2 * plane[y * side + x] + plane[down * side + x]) / 4;
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t x = i % side, row = i - x;
    out[i] = (rows[row + clamped(x, -1)] + 2 * rows[i] + rows[row + clamped(x, 1)]) / 4;
  }
  return out;
}

void centre(Plane& plane) {
  double sum = 0;
  for (const float value : plane) sum += value;
  const auto mean = static_cast<float>(sum / pixels);
  for (float& value : plane) value -= mean;
}

double dot(const Plane& left, const Plane& right) {
  static const auto kernel = REGROUP_BEST_KERNEL(dot);
  return kernel(left.data(), right.data(), pixels);
}

std::array<Plane, terms> regressors(const Plane& plane) {
  std::array<Plane, terms> out{plane};
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t x = i % side, y = i / side;
    const float left = plane[y * side + clamped(x, -1)], right = plane[y * side + clamped(x, 1)];
    const float up = plane[clamped(y, -1) * side + x], down = plane[clamped(y, 1) * side + x];
    out[1][i] = left + right + up + down - 4 * plane[i];
    out[2][i] = (right - left) / 2;
    out[3][i] = (down - up) / 2;
  }
  for (std::size_t term = 1; term < terms; ++term) centre(out[term]);
  return out;
}

/// Solves a x = b by Cholesky's factors; nothing if a is not positive definite.
std::optional<std::array<double, terms>> solve(Matrix a, std::array<double, terms> b) {
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i != j) {
        a[i][j] = sum / a[j][j];
      } else if (sum > 0) {
        a[i][i] = std::sqrt(sum);
      } else {
        return {};
      }
    }
  }
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = terms; i-- > 0;) {
    for (std::size_t k = i + 1; k < terms; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

double unexplained_one_way(const Detail& from, const Detail& to) {
  constexpr double most_contrast = 1.6;
  const std::array<Plane, terms> by = regressors(from.values);
  Matrix products{};
  std::array<double, terms> targets{};
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) products[i][j] = dot(by[i], by[j]);
    targets[i] = dot(by[i], to.values);
  }
  for (std::size_t i = 0; i < terms; ++i) products[i][i] += 1e-6 * products[0][0];
  const auto weights = solve(products, targets);
  if (!weights || (*weights)[0] < 1 / most_contrast || (*weights)[0] > most_contrast) return 1;
  double explained = 0;
  for (std::size_t i = 0; i < terms; ++i) explained += (*weights)[i] * targets[i];
  return std::clamp(1 - explained / to.energy, 0.0, 1.0);
}

}  // namespace

bool Detail::flat() const {
  constexpr float least_deviation = 1.5;  // levels of 0 to 255; JPEG and rounding make up to one
  return energy < least_deviation * least_deviation * pixels;
}

Detail detail_of(const Thumbnail& thumbnail) {
  Plane plane{};
  std::ranges::copy(thumbnail.luminance, plane.begin());
  const Plane near = blurred(plane), far = blurred(blurred(blurred(blurred(near))));
  Detail detail;
  std::ranges::transform(near, far, detail.values.begin(), std::minus<>());
  centre(detail.values);
  detail.energy = static_cast<float>(dot(detail.values, detail.values));
  return detail;
}

Detail mirrored(const Detail& detail) {
  Detail out = detail;
  for (std::size_t y = 0; y < side; ++y)
    std::reverse(out.values.begin() + static_cast<std::ptrdiff_t>(y * side),
                 out.values.begin() + static_cast<std::ptrdiff_t>((y + 1) * side));
  return out;
}

double unexplained(const Detail& left, const Detail& right) {
  if (left.flat() || right.flat()) return 1;
  // Most pairs are nothing alike, which their correlation tells at a tenth of the cost.
  constexpr double least_correlation = 0.5;
  const double product = dot(left.values, right.values);
  const double correlation = product / std::sqrt(double{left.energy} * right.energy);
  if (correlation < least_correlation) return 1 - std::pow(std::max(correlation, 0.0), 2);
  return std::min(unexplained_one_way(left, right), unexplained_one_way(right, left));
}

double colour_distance(const Thumbnail& left, const Thumbnail& right, bool mirror) {
  constexpr std::size_t cells = Thumbnail::colour_side;
  double squares = 0;
  for (std::size_t i = 0; i < left.colour.size(); ++i) {
    const std::size_t x = i / 2 % cells, other = mirror ? i + (cells - 1 - 2 * x) * 2 : i;
    const double difference = left.colour[i] - right.colour[other];
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(left.colour.size()));
}

}  // namespace regroup
