#include "regroup/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/hash.h"
#include "regroup/core/memory.h"
#include "regroup/core/parallel.h"
#include "regroup/io/text_file.h"
#include "regroup/methods/method.h"
#include "regroup/methods/schedule.h"
#include "regroup/nn/engine.h"
#include "regroup/nn/network.h"
#include "regroup/report/event_file.h"
#include "regroup/train/budget.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/data_change.h"
#include "regroup/train/duration.h"
#include "regroup/train/epoch_time.h"
#include "regroup/train/init_weights.h"
#include "regroup/train/loop.h"
#include "regroup/train/measure.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_folder.h"
#include "regroup/train/run_report.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/time_left.h"

namespace regroup {
namespace {

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Of what a run learns from, and of the names of its test sets beside `test`, which are columns of its metrics: enough
/// to notice that they changed.
std::string fingerprint_of(const RunData& data) {
  const auto bytes_of = [](const auto& numbers) {
    return std::span(reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * sizeof numbers[0]);
  };
  std::uint64_t hash = hash_of(bytes_of(data.split.train), hash_of(bytes_of(data.observed)));
  hash = data.dataset.train.source->digest(hash);
  for (const TestSet& test : data.dataset.tests)
    if (test.name != "test") hash = hash_of(bytes_of(test.name), hash);
  return fmt::format("{:016x}", hash);
}

int threads_of(const Settings& settings) {
  const auto threads = static_cast<int>(settings.integer("threads"));
  return threads > 0 ? threads : hardware_threads();
}

std::optional<RunFolder> claimed(const TrainOptions& options) {
  if (options.output.empty()) return std::nullopt;
  return options.resume ? RunFolder::resume(options.output) : RunFolder::begin(options.output);
}

/// Of a run that is resumed. The file of its first weights may be gone.
std::optional<Normalisation> known_normalisation(const TrainOptions& options) {
  const auto last = options.output / "last";
  if (!options.resume || !has_checkpoint(last)) return std::nullopt;
  const NetworkCard card = read_card(whole_checkpoint(last) / "model.safetensors");
  return Normalisation{card.mean, card.deviation};
}

/// A classifier of vectors is computed in fp32 where the processor has no bf16, and on a GPU.
Precision precision_of(const Settings& settings, const RunData& data, at::Device device) {
  const bool can_round = device.is_cpu() && rounded_linear_available();
  return data.dataset.train.source->shape().is_vector && !can_round
             ? Precision::fp32
             : choose_precision(settings.text("precision"), device);
}

/// A sentence before anything is made of the data.
RunData checked(RunData data, const Settings& settings) {
  if (!data.dataset.train.source->shape().is_vector || !method_named(settings.text("method")).needs_images) return data;
  std::vector<std::string_view> others;
  for (const MethodInfo& method : methods())
    if (!method.needs_images) others.push_back(method.name);
  throw UserError(fmt::format(
      "the method {} learns from views of an image that differ, and vectors have no views; give --method {}",
      settings.text("method"), fmt::join(others, ", ")));
}

/// One run, from its data to its last epoch.
class Run {
 public:
  Run(const Settings& settings, std::optional<RunFolder> folder, RunData data, const TrainOptions& options,
      Observer& observer)
      : settings_(settings),
        options_(options),
        observer_(observer),
        folder_(std::move(folder)),
        epochs_(static_cast<int>(settings.integer("epochs"))),
        checkpoint_seconds_(parse_duration(settings.text("checkpoint-every"))),
        device_(choose_device(settings.text("device"))),
        data_(checked(std::move(data), settings)),
        precision_(precision_of(settings, data_, device_)),
        context_(settings, training_set(data_), device_, precision_, threads_of(settings)),
        method_(method_named(settings.text("method")).make(context_)),
        primary_(method_->primary()),
        measurement_(data_, context_, *method_,
                     {data_.normalisation,
                      {device_, precision_, loading_threads(settings, *data_.dataset.train.source), mirrors()}}) {
    context_.say = [this](const std::string& sentence) { observer_.message(sentence); };
    if (context_.samples().size() == 0) throw UserError("there are no images left to train on; lower val-split");
    learning_rate(settings, 0);  // also finds out whether it can be computed
    set_engine_threads(threads_of(settings));
    tell_memory();
    context_.collect(state_);
    method_->collect(state_);
    progress_.fingerprint = fingerprint_of(data_);
    progress_.machine = machine();
    if (options.resume && has_checkpoint(options.output / "last")) {
      resume();
    } else {
      if (options.resume)
        observer_.message(fmt::format("{} has no checkpoint yet and begins", options.output.string()));
      begin();
    }
    if (!has_folder()) return;
    events_.emplace(options_.output);
    observer.run_started(options_.output.string());
  }

  TrainResult train() {
    while (place().epoch < epochs_) {
      if (!train_next_epoch()) return {false, progress_.rows, {}};
      measure_epoch();
    }
    TrainResult result{true, progress_.rows, summary()};
    if (has_folder()) write_report(options_.output, data_, measurement_.material(), progress_.rows, result.summary);
    return result;
  }

 private:
  Place& place() { return progress_.place; }
  const Place& place() const { return progress_.place; }
  bool has_folder() const { return folder_.has_value(); }

  /// A system that runs out of memory ends the program without a word, so it is told before.
  void tell_memory() {
    if (device_.is_cuda()) return;
    // Measured with the fast network, ResNet-18 and PreActResNet-18 in both precisions: 2.7 to 3.2 times what the
    // convolutions make of the images, and what the program takes by itself.
    constexpr double copies = 3, itself = 3e8;
    const double bytes = precision_ == Precision::bf16 ? 2 : 4;
    const auto batch = static_cast<double>(settings_.integer("batch-size"));
    const double needed =
        itself + copies * bytes * batch * method_->batches_held() * method_->learners().front()->model().outputs;
    const double there = physical_memory();
    const SampleShape shape = data_.dataset.train.source->shape();
    const std::string samples = shape.is_vector ? fmt::format("vectors of {} numbers", shape.channels)
                                                : fmt::format("images of {}x{}", shape.width, shape.height);
    const std::string sentence = fmt::format("a step of {} {} takes about {:.1f} GB of memory",
                                             settings_.integer("batch-size"), samples, needed / 1e9);
    const auto advice = [&] {
      return fmt::format("{}, and there are {:.1f}; a smaller --batch-size or --image-size takes less", sentence,
                         there / 1e9);
    };
    if (needed > 1.2 * there) throw UserError(advice());
    needed > 0.8 * there ? observer_.message(advice()) : observer_.note(sentence);
  }

  std::string machine() const {
    const EngineInfo engine = engine_info();
    return fmt::format("{} {}, {}, {}, {} threads", engine.name, engine.version, device_.is_cuda() ? "cuda" : "cpu",
                       precision_ == Precision::bf16 ? "bf16" : "fp32", threads_of(settings_));
  }

  /// Whether predictions are the mean over an image and its mirror image.
  bool mirrors() const {
    return settings_.flag("test-flip") && data_.dataset.mirrored_is_same &&
           !data_.dataset.train.source->shape().is_vector;
  }

  NetworkCard card() const {
    const SampleShape shape = data_.dataset.train.source->shape();
    const auto width = static_cast<int>(settings_.integer("width"));
    return {settings_.text("model"),
            width > 0 ? width : network_named(settings_.text("model")).default_width,
            shape.channels,
            shape.height,
            shape.width,
            data_.dataset.class_names,
            data_.normalisation.mean,
            data_.normalisation.deviation,
            mirrors(),
            data_.dataset.short_side};
  }

  void begin() {
    const std::string& weights = settings_.text("init-weights");
    for (Learner* learner : method_->learners()) {
      if (weights.empty()) break;
      const std::string sentence = load_init_weights(weights, settings_.text("model"), *learner);
      if (learner == method_->learners().front()) observer_.message(sentence);
    }
    if (!has_folder()) return;
    // Also finds out, before hours of training, whether there is room for a checkpoint.
    write_file(options_.output / "labels.csv", labels_csv(data_));
    write_file(options_.output / "config.toml", config_text(settings_));
    save();
  }

  void resume() {
    const RunProgress saved = load_checkpoint(options_.output / "last", *method_, state_);
    method_->restored();
    if (saved.fingerprint != progress_.fingerprint)
      throw UserError(fmt::format(
          "{}: the data is not what this run began with: {}; put it back, or begin a new run with --config {}",
          options_.output.string(), describe_change(read_text(options_.output / "labels.csv"), data_),
          (options_.output / "config.toml").string()));
    if (saved.machine != progress_.machine)
      observer_.message(
          fmt::format("this run began with {} and continues with {}: the result may differ in the last bits",
                      saved.machine, progress_.machine));
    if (saved.place.epoch > epochs_)
      throw UserError(fmt::format("{}: {} epochs are done of {}; the checkpoint is damaged", options_.output.string(),
                                  saved.place.epoch, epochs_));
    const std::string machine = progress_.machine;
    progress_ = saved;
    progress_.machine = machine;
    const Settings before = resolve_settings({read_config((options_.output / "config.toml").string())});
    if (before.integer("epochs") < epochs_) lengthen(before);
  }

  /// A run that gets more epochs than it had. Its phases may move, so the epoch that it was in begins again.
  void lengthen(Settings settings) {
    settings.set("epochs", std::int64_t{epochs_}, "epochs");
    begin_epoch_anew();
    save();
    // Last, so that a kill before leaves the shorter run.
    std::filesystem::remove(options_.output / "summary.json");
    write_file(options_.output / "config.toml", config_text(settings));
  }

  void begin_epoch_anew() {
    place() = {place().epoch, 0, 0};
    progress_.epoch_seconds = progress_.epoch_estimator_seconds = progress_.waited_seconds = 0;
    progress_.epoch_images = 0;
  }

  void save(const char* name = "last") {
    if (!has_folder()) return;
    try {
      save_checkpoint(options_.output / name, *method_, state_, progress_, card());
    } catch (const UserError& error) {
      throw UserError(error.what() + comfort());
    }
    last_save_ = clock_seconds();
  }

  /// What is left of a run that breaks.
  std::string comfort() const {
    if (!has_folder() || !has_checkpoint(options_.output / "last")) return "";
    return fmt::format("; the checkpoint before is whole, and --resume {} continues from it", options_.output.string());
  }

  /// False: the run was stopped inside the epoch, and is saved.
  bool train_next_epoch() {
    if (stopped()) {
      save();
      return false;
    }
    lap_start_ = clock_seconds();
    try {
      const bool finished = train_epoch(*method_, context_, place(), epochs_, [&](const StepDone& done) {
        progress_.waited_seconds += done.waited;
        progress_.epoch_images += static_cast<double>(done.images);
        report_step(done);
        if (!stopped() && clock_seconds() - last_save_ <= checkpoint_seconds_) return true;
        count_time();
        save();
        lap_start_ = clock_seconds();
        return !stopped();
      });
      count_time();
      return finished;
    } catch (const UserError& error) {
      // What the method finds wrong is told with the place where it was, and with what is left of the run.
      throw UserError(
          fmt::format("epoch {}, step {}: {}{}", place().epoch + 1, place().step + 1, error.what(), comfort()));
    }
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  /// Adds the time since the last lap began to the progress. What a checkpoint takes is not of the epoch.
  void count_time() {
    const double passed = clock_seconds() - lap_start_, own = method_->own_seconds() - own_seconds_;
    progress_.epoch_seconds += passed;
    progress_.seconds += passed;
    progress_.epoch_estimator_seconds += own;
    progress_.estimator_seconds += own;
    own_seconds_ += own;
    lap_start_ = clock_seconds();
  }

  void report_step(const StepDone& done) {
    const double epoch_seconds = progress_.epoch_seconds + clock_seconds() - lap_start_;
    // Passes of one epoch are alike enough for an estimate.
    const auto steps = done.step.of * done.passes;
    const auto taken = done.step.pass * done.step.of + done.step.number + 1;
    const double per_step = epoch_seconds / static_cast<double>(taken);
    const double images_per_second = static_cast<double>(done.images) / per_step;
    const double whole_epoch = per_step * static_cast<double>(steps);
    const Pace pace{
        place().epoch,   epochs_,
        frozen_epochs(), progress_.rows.empty() ? 0 : progress_.rows.back().value("seconds"),
        whole_epoch,     progress_.waited_seconds / static_cast<double>(taken) * static_cast<double>(steps)};
    const double later = seconds_of_later_epochs(pace);
    warn_if_slow(pace, images_per_second, later);
    const double image_seconds = thawed_seconds(pace) / whole_epoch / images_per_second;
    observer_.step_done({place().epoch + 1, epochs_, taken, steps, done.loss, images_per_second,
                         whole_epoch - epoch_seconds + later + seconds_of_measurements(image_seconds)});
  }

  /// Without weights from elsewhere nothing is frozen.
  int frozen_epochs() const {
    return settings_.text("init-weights").empty() ? 0 : static_cast<int>(settings_.integer("freeze-epochs"));
  }

  /// What measuring will take in the rest of the run.
  double seconds_of_measurements(double image_seconds) const {
    const auto every = settings_.integer("eval-every");
    const auto measurements = (epochs_ + every - 1) / every - place().epoch / every;
    return static_cast<double>(measurements) * (measuring_seconds_ > 0 ? measuring_seconds_ : guess(image_seconds));
  }

  /// The seconds of a measurement before there was one: a look at an image takes a third of a step with it.
  double guess(double image_seconds) const {
    const RunCounts counts = counts_of(data_);
    const auto networks = static_cast<double>(method_->networks().size());
    return image_seconds / 3 * (counts.validation + counts.tests) * networks * (mirrors() ? 2 : 1);
  }

  /// Who has begun something that takes a day wants to know soon.
  void warn_if_slow(const Pace& pace, double images_per_second, double later) {
    constexpr double patience = 600, settled = 15;
    if (warned_ || clock_seconds() - start_ < settled) return;
    warned_ = true;
    if (pace.current < patience) return;
    observer_.message(fmt::format(
        "An epoch takes about {} here ({:.1f} images a second), {} in all; a smaller --image-size, --limit{} "
        "or fewer --epochs take less.",
        duration_text(pace.current), images_per_second,
        duration_text(progress_.seconds - progress_.epoch_seconds + pace.current + later),
        settings_.text("recipe") == "fast" ? "" : ", --recipe fast"));
  }

  void measure_epoch() {
    const double start = clock_seconds();
    EpochMetrics row;
    row.epoch = place().epoch + 1;
    const bool last = row.epoch == epochs_;
    const bool measured = last || row.epoch % settings_.integer("eval-every") == 0;
    measurement_.measure(measured, last, row);
    row.add("lr", method_->learners().front()->rate);
    row.add("seconds", progress_.epoch_seconds);
    row.add("images_per_second", progress_.epoch_images / progress_.epoch_seconds);
    row.add("estimator_seconds", progress_.epoch_estimator_seconds);
    row.add("waited_seconds", progress_.waited_seconds);
    row.add("peak_memory_mb", peak_memory_mb());

    const double validation = row.value("val_" + primary_);
    if (measured) measuring_seconds_ = clock_seconds() - start;
    progress_.seconds += clock_seconds() - start;
    progress_.rows.push_back(row);
    ++place().epoch;
    begin_epoch_anew();
    const bool best = measured && (std::isnan(validation) ? last : validation > progress_.best_validation);
    if (best && !std::isnan(validation)) progress_.best_validation = validation;
    if (has_folder()) {
      if (best) save("best");
      save();
      write_file(options_.output / "metrics.csv", metrics_csv(progress_.rows));
      write_events(row);
    }
    observer_.epoch_done(row, epochs_);
  }

  RunSummary summary() {
    RunSummary summary = measurement_.summary(progress_.rows, primary_);
    summary.epochs = epochs_;
    summary.seconds = progress_.seconds;
    double images = 0, seconds = 0;
    for (const EpochMetrics& row : progress_.rows) {
      images += row.value("images_per_second") * row.value("seconds");
      seconds += row.value("seconds");
    }
    summary.images_per_second = images / seconds;
    summary.estimator_seconds = progress_.estimator_seconds;
    summary.peak_memory_mb = peak_memory_mb();
    return summary;
  }

  void write_events(const EpochMetrics& row) {
    const double time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    for (const auto& [name, value] : row.values)
      if (!std::isnan(value)) events_->scalar(event_tag(name, primary_), value, row.epoch, time);
    events_->flush();
  }

  const Settings& settings_;
  const TrainOptions& options_;
  Observer& observer_;
  std::optional<RunFolder> folder_;
  int epochs_;
  double checkpoint_seconds_;
  at::Device device_;
  RunData data_;
  Precision precision_;
  Context context_;
  std::unique_ptr<Method> method_;
  std::string primary_;
  Measurement measurement_;
  State state_;
  RunProgress progress_;
  std::optional<EventWriter> events_;
  const double start_ = clock_seconds();
  double last_save_ = start_, lap_start_ = start_;
  double measuring_seconds_ = 0;  ///< of the last measurement
  bool warned_ = false;
  double own_seconds_ = 0;  ///< of the method, as far as it is counted
};

}  // namespace

TrainResult train(const Settings& settings, const TrainOptions& options, Observer& observer) {
  // First of all: nothing is loaded for a run that another process trains.
  auto folder = claimed(options);
  Budget budget(settings, observer);
  RunData data = load_run_data(settings, threads_of(settings), observer, known_normalisation(options),
                               [&](const ImageSurvey& survey) { return budget.choose_side(survey); });
  const Settings decided = budget.decided(data);
  return Run(decided, std::move(folder), std::move(data), options, observer).train();
}

TrainResult train(const Settings& settings, RunData data, const TrainOptions& options, Observer& observer) {
  return Run(settings, claimed(options), std::move(data), options, observer).train();
}

}  // namespace regroup
