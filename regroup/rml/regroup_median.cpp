#include "regroup/rml/regroup_median.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/rml/draw_size.h"
#include "regroup/rml/groups.h"
#include "regroup/rml/loss_book.h"

namespace regroup {
namespace {

void check(const RegroupOptions& options) {
  const auto fail = [](const std::string& message) { throw UserError(message); };
  if (options.groups < 2 || options.groups > most_groups || options.groups % 2 != 0)
    fail(fmt::format("n is {}; it must be an even number from 2 to {}", options.groups, most_groups));
  if (!(options.selection.epsilon >= 0) || !std::isfinite(options.selection.epsilon))
    fail(fmt::format("eps is {}; it must be 0 or more", options.selection.epsilon));
  const double value = options.draw.value;
  if (options.draw.kind == DrawSize::Kind::per_group && !(value >= 1))
    fail(fmt::format("k is {}; it must be at least 1", value));
  if (options.draw.kind == DrawSize::Kind::share && !(value > 0 && value <= 1))
    fail(fmt::format("the selected share of a class is {}; it must be above 0 and at most 1", value));
}

/// k for a class of `samples`.
int group_size(const DrawSize& draw, int groups, std::size_t samples) {
  const double most = std::floor(static_cast<double>(samples) / groups);
  const double wanted = draw.kind == DrawSize::Kind::share
                            ? std::max(1.0, std::floor(draw.value * static_cast<double>(samples) / groups))
                            : draw.value;
  return static_cast<int>(std::min(wanted, most));
}

/// Sorts by exchanging neighbours, unrolled so that all is in registers: that takes no branch, and which of them are
/// exchanged nobody can predict.
template <std::size_t count>
double median_of(std::span<const double> given) {
  std::array<double, count> values;
  std::copy_n(given.begin(), count, values.begin());
#pragma GCC unroll 16
  for (std::size_t round = 0; round < count; ++round)
#pragma GCC unroll 16
    for (std::size_t i = round % 2; i + 1 < count; i += 2) {
      const double first = values[i], second = values[i + 1];
      values[i] = std::min(first, second);
      values[i + 1] = std::max(first, second);
    }
  return values[count / 2];
}

/// Eq. 4 for the group means and the sample's own loss, which are reordered.
double regroup_median(std::span<double> values) {
  if (values.size() == 7) return median_of<7>(values);  // the usual number of groups
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Step 6, with the cap of the paper's appendix: a loss is never raised.
float loss_weight(double estimate, float loss) {
  return loss > 0 ? static_cast<float>(std::min(1.0, estimate / loss)) : 1;
}

void check_size(std::size_t out, std::size_t samples) {
  if (out != samples) throw std::invalid_argument(fmt::format("room for {} values of {} samples", out, samples));
}

}  // namespace

/// What all estimates of an epoch share.
struct RegroupMedian::Tables {
  RegroupReport report;
  std::vector<std::optional<ClassSampler>> samplers;
};

RegroupMedian::RegroupMedian(ClassIndex classes, RegroupOptions options, int threads)
    : classes_(std::move(classes)), options_(options), threads_(threads) {
  check(options);
}

RegroupMedian::Tables RegroupMedian::make_tables(std::span<const float> losses, std::uint32_t epoch) {
  if (losses.size() != classes_.size())
    throw std::invalid_argument(fmt::format("{} losses for {} samples", losses.size(), classes_.size()));
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (losses[i] != LossBook::unrecorded && !(losses[i] >= 0 && std::isfinite(losses[i])))
      throw UserError(fmt::format("the loss of sample {} is {}; losses are finite and at least 0", i, losses[i]));

  Tables tables;
  DrawSize draw = options_.draw;
  if (draw.kind == DrawSize::Kind::automatic) {
    if (noise_rates_.size() <= epoch)
      noise_rates_.resize(std::size_t{epoch} + 1, std::numeric_limits<float>::quiet_NaN());
    if (std::isnan(noise_rates_[epoch]))
      noise_rates_[epoch] =
          static_cast<float>(estimate_class_noise_rates(losses, classes_.labels(), classes_.classes()).overall.rate);
    tables.report.noise_rate = static_cast<double>(noise_rates_[epoch]);
    tables.report.settled_noise_rate = settled_noise_rate(epoch);
    draw = DrawSize::share(share_for_noise_rate(tables.report.settled_noise_rate));
  }

  const auto classes = static_cast<std::size_t>(classes_.classes());
  tables.report.per_group.resize(classes);
  tables.samplers.resize(classes);
  parallel_for(classes, 1, threads_, [&](std::size_t y, std::size_t) {
    std::vector<float> recorded;
    for (const std::uint32_t sample : classes_.members(static_cast<std::int32_t>(y)))
      if (losses[sample] != LossBook::unrecorded) recorded.push_back(losses[sample]);
    const int per_group = group_size(draw, options_.groups, recorded.size());
    tables.report.per_group[y] = per_group;
    if (per_group > 0)
      tables.samplers[y].emplace(recorded, options_.groups, per_group, options_.selection, options_.algorithm);
  });
  return tables;
}

double RegroupMedian::settled_noise_rate(std::uint32_t epoch) const {
  std::vector<float> known;
  std::copy_if(noise_rates_.begin(), noise_rates_.begin() + epoch + 1, std::back_inserter(known),
               [](float rate) { return !std::isnan(rate); });
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

void RegroupMedian::for_each_estimate(const Tables& tables, std::span<const float> losses, std::uint32_t epoch,
                                      std::span<const std::uint32_t> samples,
                                      const std::function<void(std::size_t i, double estimate)>& use) const {
  constexpr std::size_t grain = 256;
  const auto groups = static_cast<std::size_t>(options_.groups);
  parallel_for(samples.size(), grain, threads_, [&](std::size_t begin, std::size_t end) {
    DrawScratch scratch;
    std::vector<double> values(groups + 1);
    const auto means = std::span(values).first(groups);  // or medians
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t sample = samples[i];
      const auto& sampler = tables.samplers[static_cast<std::size_t>(classes_.label(sample))];
      if (!sampler || losses[sample] == LossBook::unrecorded) {
        use(i, losses[sample]);
        continue;
      }
      Stream stream(options_.seed, Purpose::selection, epoch, sample);
      if (options_.centre == Centre::mean_of_medians)
        sampler->draw_medians(stream, scratch, means);
      else
        sampler->draw_means(stream, scratch, means);
      values.back() = losses[sample];
      use(i, options_.centre == Centre::median_of_means ? regroup_median(values)
                                                        : std::reduce(means.begin(), means.end()) / options_.groups);
    }
  });
}

RegroupReport RegroupMedian::estimates(std::span<const float> losses, std::uint32_t epoch, std::span<float> out) {
  check_size(out.size(), classes_.size());
  Tables tables = make_tables(losses, epoch);
  const auto samples = classes_.by_class();
  for_each_estimate(tables, losses, epoch, samples,
                    [&](std::size_t i, double estimate) { out[samples[i]] = static_cast<float>(estimate); });
  return std::move(tables.report);
}

RegroupReport RegroupMedian::weights(std::span<const float> losses, std::uint32_t epoch, std::span<float> out) {
  check_size(out.size(), classes_.size());
  Tables tables = make_tables(losses, epoch);
  const auto samples = classes_.by_class();
  for_each_estimate(tables, losses, epoch, samples, [&](std::size_t i, double estimate) {
    out[samples[i]] = loss_weight(estimate, losses[samples[i]]);
  });
  return std::move(tables.report);
}

RegroupReport RegroupMedian::weights(std::span<const float> losses, std::uint32_t epoch,
                                     std::span<const std::uint32_t> samples, std::span<float> out) {
  check_size(out.size(), samples.size());
  for (const std::uint32_t sample : samples)
    if (sample >= classes_.size())
      throw std::out_of_range(fmt::format("sample {} of a dataset of {}", sample, classes_.size()));
  Tables tables = make_tables(losses, epoch);
  for_each_estimate(tables, losses, epoch, samples,
                    [&](std::size_t i, double estimate) { out[i] = loss_weight(estimate, losses[samples[i]]); });
  return std::move(tables.report);
}

}  // namespace regroup
