#include "regroup/train/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/core/random.h"
#include "regroup/nn/network.h"
#include "regroup/train/duration.h"
#include "regroup/train/epoch_time.h"

namespace regroup {
namespace {

constexpr std::string_view no_budget = "none";

/// Sides to choose from, the best first.
constexpr std::array sides{224, 192, 160, 128, 112, 96, 80, 64, 48, 40, 32};

/// A few samples of a source, spread over all of them.
class FewSamples final : public SampleSource {
 public:
  FewSamples(std::shared_ptr<const SampleSource> all, std::size_t count)
      : all_(std::move(all)), count_(std::min(count, all_->size())) {}

  SampleShape shape() const override { return all_->shape(); }
  std::size_t size() const override { return count_; }
  bool decodes() const override { return all_->decodes(); }
  std::uint64_t digest(std::uint64_t before) const override { return all_->digest(before); }

  SampleView read(std::uint32_t index, SampleScratch& scratch) const override {
    return all_->read(static_cast<std::uint32_t>(index * all_->size() / count_), scratch);
  }

 private:
  std::shared_ptr<const SampleSource> all_;
  std::size_t count_;
};

/// Labels in turn, to measure a network on these samples.
RunData labelled_in_turn(std::shared_ptr<const SampleSource> source, int classes) {
  RunData data;
  LabelledSet& train = data.dataset.train;
  for (std::size_t i = 0; i < source->size(); ++i) train.labels.push_back(static_cast<std::int32_t>(i) % classes);
  for (int y = 0; y < classes; ++y) data.dataset.class_names.push_back(std::to_string(y));
  const auto channels = static_cast<std::size_t>(source->shape().channels);
  data.normalisation = {std::vector<float>(channels, 0.5F), std::vector<float>(channels, 0.29F)};
  train.source = std::move(source);
  data.observed = train.labels;
  data.split.train.resize(train.size());
  std::iota(data.split.train.begin(), data.split.train.end(), 0U);
  return data;
}

/// They are also the test images, so that it is measured how long predicting takes.
RunData few_of(const std::shared_ptr<const SampleSource>& source, int classes, std::size_t count) {
  RunData data = labelled_in_turn(std::make_shared<FewSamples>(source, count), classes);
  data.dataset.test() = data.dataset.train;
  return data;
}

/// Random images of one size.
RunData made_data(SampleShape shape, int classes, std::size_t count) {
  std::vector<std::uint8_t> pixels(count * shape.values());
  Stream stream(1, Purpose::synthetic);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(stream());
  RunData data = labelled_in_turn(std::make_shared<ImagesInMemory>(shape, std::move(pixels)), classes);
  data.dataset.test().source = std::make_shared<ImagesInMemory>(shape, std::vector<std::uint8_t>());
  return data;
}

/// Fewer images are looked at more often; who begins with pretrained weights needs a quarter.
double fewest_epochs(const Settings& settings, double images) {
  const double scale = settings.text("init-weights").empty() ? 1 : 0.25;
  return std::round(scale * std::clamp(16 * std::sqrt(10'000 / images), 12.0, 60.0));
}

/// More add nothing that is worth the time.
double most_epochs(const Settings& settings, double images) { return 2.5 * fewest_epochs(settings, images); }

}  // namespace

Budget::Budget(const Settings& settings, Observer& observer)
    : settings_(settings), observer_(observer), start_(clock_seconds()) {
  const std::string& text = settings.text("budget");
  if (text != no_budget) seconds_ = parse_duration(text);
}

int Budget::choose_side(const ImageSurvey& survey) {
  const NetworkInfo& network = network_named(settings_.text("model"));
  const int largest = std::min({survey.common.height, survey.common.width, network.largest_image});
  if (!seconds_) return largest;
  RunCounts counts{static_cast<double>(survey.train), static_cast<double>(survey.validation),
                   static_cast<double>(survey.tests)};
  if (survey.validation == 0) {
    counts.validation = counts.train * settings_.number("val-split");
    counts.train -= counts.validation;
  }
  if (const auto limit = static_cast<double>(settings_.integer("limit")); limit > 0)
    counts.train = std::min(counts.train, limit);
  const auto given = static_cast<double>(settings_.integer("epochs"));
  const double epochs = given > 0 ? given : fewest_epochs(settings_, counts.train);
  observer_.note("measuring how fast this machine trains");
  double measured = 0;
  for (const int side : sides) {
    if (side > largest && side != sides.back()) continue;
    // The time follows the number of pixels, near enough to leave out sides that are much too large.
    const double scale = measured_side_ > 0 ? std::pow(static_cast<double>(side) / measured_side_, 2) : 0;
    if (measured_side_ == 0 || measured * scale * epochs < 1.3 * left()) {
      measured =
          epoch_seconds({3, side, side}, survey.classes, counts, survey.from_disk ? survey.from_disk(side) : nullptr);
      measured_side_ = side;
      if (measured * epochs <= left()) return side;
    }
  }
  return sides.back();
}

Settings Budget::decided(const RunData& data) {
  const SampleShape shape = data.dataset.train.source->shape();
  const bool epochs_are_open = settings_.integer("epochs") == 0;
  if (data.dataset.short_side > 0) settings_.set("image-size", std::int64_t{shape.height}, "budget");
  if (!epochs_are_open) return settled();
  if (!seconds_) throw UserError("epochs is 0 and there is no budget; give the number of epochs");
  const RunCounts counts = counts_of(data);
  const auto& source = data.dataset.train.source;
  const double seconds = epoch_seconds(shape, data.dataset.classes(), counts, source->decodes() ? source : nullptr);
  const double fit = left() / seconds;
  const auto epochs = static_cast<std::int64_t>(std::clamp(fit, 1.0, most_epochs(settings_, counts.train)));
  settings_.set("epochs", epochs, "budget");
  const std::string reason = fit < most_epochs(settings_, counts.train)
                                 ? fmt::format("as many as fit into {}", duration_text(*seconds_))
                                 : fmt::format("enough for {:.0f} images", counts.train);
  observer_.note(
      fmt::format("{} epochs of the network {} by the method {} on images of {}x{}, about {}: {} (--budget, "
                  "--epochs, --image-size and --model change it)",
                  epochs, settings_.text("model"), settings_.text("method"), shape.width, shape.height,
                  duration_text(static_cast<double>(epochs) * seconds), reason));
  if (fit < fewest_epochs(settings_, counts.train))
    observer_.message(fmt::format("{} is little for {:.0f} images; a longer --budget or a --limit gives better results",
                                  duration_text(*seconds_), counts.train));
  return settled();
}

Settings Budget::settled() {
  settings_.set("budget", std::string(no_budget), "budget");
  return settings_;
}

/// What is left for training. Others may use the machine too, so that not all of it is planned.
double Budget::left() const { return std::max(0.0, 0.9 * *seconds_ - (clock_seconds() - start_)); }

double Budget::epoch_seconds(SampleShape shape, int classes, const RunCounts& counts,
                             const std::shared_ptr<const SampleSource>& from_disk) {
  if (const auto known = known_.find(shape.height); known != known_.end()) return known->second;
  Settings settings = settings_;
  if (settings.integer("epochs") == 0)
    settings.set("epochs", static_cast<std::int64_t>(fewest_epochs(settings_, counts.train)), "budget");
  settings.set("init-weights", std::string(), "budget");
  // The short run would be frozen for a large part of it.
  settings.set("freeze-epochs", std::int64_t{0}, "budget");
  // The images of a step cost the same in a smaller one.
  const std::int64_t given = settings.integer("batch-size"), batch = std::min<std::int64_t>(given, 32);
  settings.set("batch-size", batch, "budget");
  settings.set("epoch-batches", settings.integer("epoch-batches") * given / batch, "budget");
  const auto few = static_cast<std::size_t>(2 * batch);
  const double seconds = measured_epoch_seconds(
      settings, from_disk ? few_of(from_disk, classes, few) : made_data(shape, classes, few), counts);
  known_[shape.height] = seconds;
  return seconds;
}

}  // namespace regroup
