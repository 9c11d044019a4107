#include "regroup/methods/fmix.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace regroup {

at::Tensor low_frequency_mask(Stream& random, int height, int width, double decay, double lambda) {
  const int columns = width / 2 + 1;
  const auto table = [](int rows, int waves, int length, auto&& function) {
    const at::Tensor values = at::empty({rows, waves}, at::kDouble);
    for (int x = 0; x < rows; ++x)
      for (int k = 0; k < waves; ++k)
        values.data_ptr<double>()[x * waves + k] = function(2 * std::numbers::pi * x * k / length);
    return values;
  };
  const auto sine = [](double angle) { return std::sin(angle); };
  const auto cosine = [](double angle) { return std::cos(angle); };
  // The waves, as a Fourier transform of a real picture has them; those of the right half are those of the left.
  const at::Tensor real = at::empty({height, columns}, at::kDouble), imaginary = at::empty_like(real);
  const double lowest = 1.0 / std::max(height, width);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < columns; ++x) {
      const double down = std::min(y, height - y) / static_cast<double>(height), right = x / static_cast<double>(width);
      const double twice = x == 0 || 2 * x == width ? 1 : 2;
      const double strength = twice / std::pow(std::max(std::hypot(down, right), lowest), decay);
      real.data_ptr<double>()[y * columns + x] = random.normal() * strength;
      imaginary.data_ptr<double>()[y * columns + x] = random.normal() * strength;
    }
  }
  const at::Tensor c = table(height, height, height, cosine), s = table(height, height, height, sine);
  const at::Tensor down_real = at::matmul(c, real) - at::matmul(s, imaginary);
  const at::Tensor down_imaginary = at::matmul(c, imaginary) + at::matmul(s, real);
  const at::Tensor picture = (at::matmul(down_real, table(width, columns, width, cosine).t()) -
                              at::matmul(down_imaginary, table(width, columns, width, sine).t()))
                                 .contiguous();

  const auto pixels = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  const double exact = lambda * static_cast<double>(pixels);
  const auto ones = static_cast<std::size_t>(random.uniform() > 0.5 ? std::ceil(exact) : std::floor(exact));
  std::vector<std::size_t> order(pixels);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [values = picture.data_ptr<double>()](std::size_t a, std::size_t b) {
    return values[a] > values[b];
  });
  const at::Tensor mask = at::zeros({height, width}, at::kFloat);
  for (std::size_t i = 0; i < std::min(ones, pixels); ++i) mask.data_ptr<float>()[order[i]] = 1;
  return mask;
}

}  // namespace regroup
