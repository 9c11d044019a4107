#include "regroup/rml/draw_size.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regroup {
namespace {

struct Setting {
  double noise_rate, share;
};

// The outer two are ours. Without noise the whole class would do; the draw stays below it so that estimates still
// differ from sample to sample.
constexpr std::array<Setting, 5> settings = {{{0, 0.9}, {0.2, 0.66}, {0.45, 0.24}, {0.8, 0.07}, {1, 0.03}}};

}  // namespace

double share_for_noise_rate(double noise_rate) {
  const double rate = std::clamp(noise_rate, settings.front().noise_rate, settings.back().noise_rate);
  std::size_t right = 1;
  while (right + 1 < settings.size() && settings[right].noise_rate < rate) ++right;
  const Setting& low = settings[right - 1];
  const Setting& high = settings[right];
  const double part = (rate - low.noise_rate) / (high.noise_rate - low.noise_rate);
  return std::exp(std::lerp(std::log(low.share), std::log(high.share), part));
}

}  // namespace regroup
