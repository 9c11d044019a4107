#include "regroup/rml/class_sampler.h"

#include "regroup/rml/groups.h"

namespace regroup {
namespace {

/// One try of the alias table takes about as long as ten samples of the race (`make bench ONLY=estimator`).
constexpr double race_samples_per_try = 10;

DrawAlgorithm cheaper(std::span<const float> losses, double count, const SelectionOptions& options) {
  std::vector<double> exponents;
  exponents.reserve(losses.size());
  for (const float loss : losses) exponents.push_back(processed_loss(loss, options));
  const double samples_of_race = static_cast<double>(losses.size()) / race_samples_per_try;
  // At least as many tries as samples: nothing to solve where those are too many already.
  if (count > samples_of_race) return DrawAlgorithm::race;
  return race_end(exponents, count).tries < samples_of_race ? DrawAlgorithm::alias : DrawAlgorithm::race;
}

std::variant<AliasSampler, RaceSampler> make_sampler(std::span<const float> losses, std::size_t count,
                                                     const SelectionOptions& options, DrawAlgorithm algorithm) {
  if (algorithm == DrawAlgorithm::automatic) algorithm = cheaper(losses, static_cast<double>(count), options);
  if (algorithm == DrawAlgorithm::alias) return AliasSampler(losses, count, options);
  return RaceSampler(losses, count, options);
}

}  // namespace

ClassSampler::ClassSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
                           DrawAlgorithm algorithm)
    : groups_(groups),
      per_group_(static_cast<std::uint32_t>(per_group)),
      sampler_(make_sampler(losses, static_cast<std::size_t>(groups) * per_group_, options, algorithm)) {}

DrawAlgorithm ClassSampler::algorithm() const {
  return std::holds_alternative<AliasSampler>(sampler_) ? DrawAlgorithm::alias : DrawAlgorithm::race;
}

void ClassSampler::draw_groups(Stream& stream, DrawScratch& scratch) const {
  std::visit([&](const auto& sampler) { sampler.draw(stream, scratch); }, sampler_);
  split_into_groups(stream, groups_, per_group_, scratch);
}

void ClassSampler::draw_means(Stream& stream, DrawScratch& scratch, std::span<double> means) const {
  draw_groups(stream, scratch);
  group_means(scratch, per_group_, means);
}

void ClassSampler::draw_medians(Stream& stream, DrawScratch& scratch, std::span<double> medians) const {
  draw_groups(stream, scratch);
  group_medians(scratch, per_group_, medians);
}

std::vector<Drawn> ClassSampler::draw(Stream& stream, DrawScratch& scratch) const {
  draw_groups(stream, scratch);
  std::vector<Drawn> result;
  for (const std::uint32_t position : std::visit([&](const auto& s) { return s.drawn(scratch); }, sampler_))
    result.push_back({position, scratch.group_of[result.size()]});
  return result;
}

}  // namespace regroup
