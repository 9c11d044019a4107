// Training against PyTorch's: the same network, batch, threads and precision, in turn in one run.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench.h"
#include "pytorch_process.h"
#include "regroup/core/clock.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/data/dataset.h"
#include "regroup/methods/method.h"
#include "regroup/nn/engine.h"
#include "regroup/train/loop.h"
#include "regroup/train/run_settings.h"

namespace regroup::bench {
namespace {

constexpr int classes = 10, image_count = 50'000, batch_size = 128, epochs = 1000;

/// A core that rested is slow at first, and the batches that a loader prepared meanwhile are free: so many steps of
/// each side go before those that count.
constexpr int warm_up = 3;

LabelledSet make_images(std::size_t count) {
  constexpr SampleShape shape{3, 32, 32};
  LabelledSet images;
  std::vector<std::uint8_t> pixels(shape.values() * count);
  images.labels.resize(count);
  Stream stream(1, Purpose::synthetic);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(stream());
  for (auto& label : images.labels) label = static_cast<std::int32_t>(stream.below(classes));
  images.source = std::make_shared<ImagesInMemory>(shape, std::move(pixels));
  return images;
}

/// Our training loop, on images that are nothing but noise.
class Training {
 public:
  Training(const LabelledSet& images, const std::string& method, int width, Precision precision)
      : settings_(settings_for(method, width)),
        context_(settings_, samples_of(images), at::kCPU, precision, hardware_threads()),
        method_(method_named(method).make(context_)) {}

  /// Seconds of so many steps, after some that do not count: see warm_up.
  double run(int steps) {
    double start = 0;
    for (int done = 0; done < warm_up + steps;) {
      const bool finished = train_epoch(*method_, context_, place_, epochs, [&](const StepDone&) {
        if (++done == warm_up) {
          start = clock_seconds();
          own_before_ = method_->own_seconds();
        }
        return done < warm_up + steps;
      });
      if (finished) place_ = {place_.epoch + 1, 0, 0};
    }
    return clock_seconds() - start;
  }

  /// Seconds that the method's own work at the start of an epoch takes, once losses are recorded.
  double epoch_start() {
    std::vector<std::uint32_t> slots(context_.samples().size());
    std::vector<float> losses(slots.size());
    Stream stream(2, Purpose::synthetic);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i] = static_cast<std::uint32_t>(i);
      losses[i] = static_cast<float>(stream.uniform() * 3);
    }
    context_.book().record(slots, losses);
    const double before = method_->own_seconds();
    method_->phase(place_.epoch).begin_epoch(place_.epoch + 1);
    return method_->own_seconds() - before;
  }

  /// Seconds of a whole epoch, with what the method does at its start.
  double run_epoch() {
    place_ = {place_.epoch, 0, 0};
    const double start = clock_seconds();
    train_epoch(*method_, context_, place_, epochs, [](const StepDone&) { return true; });
    place_ = {place_.epoch + 1, 0, 0};
    return clock_seconds() - start;
  }

  /// The share of the samples that keep their label in RML-Semi's second phase.
  double labelled_share() const {
    const auto labelled = method_->labelled();
    return static_cast<double>(std::ranges::count(labelled, 1)) / static_cast<double>(labelled.size());
  }

  /// Of the steps that counted in the last run: the seconds of the method's own bookkeeping.
  double own_seconds() const { return method_->own_seconds() - own_before_; }
  double flops_a_step() { return 3 * 2 * batch_size * method_->learners().front()->model().multiply_adds; }

 private:
  static Settings settings_for(const std::string& method, int width) {
    std::vector<std::pair<std::string, std::string>> values{
        {"method", method}, {"model", "resnet18"}, {"width", fmt::format("{}", width)}};
    if (method == "ce") values.emplace_back("ema", "0");
    if (method == "rml-semi") values.emplace_back("warmup-epochs", "1");
    return run_settings(values);
  }

  static TrainingSet samples_of(const LabelledSet& images) {
    TrainingSet samples;
    samples.source = images.source;
    samples.labels = images.labels;
    for (std::uint32_t i = 0; i < images.size(); ++i) samples.positions.push_back(i);
    samples.classes = classes;
    samples.normalisation = {{0.49F, 0.48F, 0.45F}, {0.25F, 0.24F, 0.26F}};
    return samples;
  }

  Settings settings_;
  Context context_;
  std::unique_ptr<Method> method_;
  Place place_;
  double own_before_ = 0;
};

/// Seconds of four products of 2048 x 2048 matrices.
double four_products(Precision precision) {
  const auto type = precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
  const at::Tensor a = at::randn({2048, 2048}).to(type), b = at::randn({2048, 2048}).to(type);
  return seconds([&] {
    for (int i = 0; i < 4; ++i) at::mm(a, b);
  });
}
constexpr double flops_of_four_products = 4 * 2.0 * 2048 * 2048 * 2048;

std::string name_of(Precision precision) { return precision == Precision::bf16 ? "bf16" : "fp32"; }

/// The median of each column over the rounds.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double steady(PyTorchProcess& pytorch, const std::string& training, int steps) {
  pytorch.ask(fmt::format("run {} {}", training, warm_up));
  return pytorch.ask(fmt::format("run {} {}", training, steps));
}

void bench_width(Figures& figures, PyTorchProcess& pytorch, const LabelledSet& images, int width, Precision precision,
                 int steps, int rounds) {
  const std::string w = fmt::format("w{}", width), p = name_of(precision);
  Training ce(images, "ce", width, precision), rml(images, "rml", width, precision);
  for (const char* kind : {"ce", "rml"}) pytorch.ask(fmt::format("prepare {} {} {}", kind, width, p));
  std::vector<double> over_pytorch, over_reference, over_peak, share;
  for (int round = 0; round < rounds; ++round) {
    settle();
    const double theirs = steady(pytorch, fmt::format("ce {} {}", width, p), steps);
    settle();
    // Before and after the steps, so that both have the same share of what else the machine does.
    const double products_before = four_products(precision);
    const double ours = ce.run(steps);
    const double products = products_before + four_products(precision);
    settle();
    const double reference = steady(pytorch, fmt::format("rml {} {}", width, p), steps);
    settle();
    const double ours_rml = rml.run(steps);
    const double own = rml.own_seconds(), start = rml.epoch_start();
    const double epochs = static_cast<double>(image_count / batch_size) / steps;
    over_pytorch.push_back(theirs / ours);
    over_peak.push_back(ce.flops_a_step() * steps / ours * products / (2 * flops_of_four_products));
    over_reference.push_back(reference / (ours_rml + start / epochs));
    share.push_back((own * epochs + start) / (ours_rml * epochs + start));
  }
  report(figures, "regroup_over_pytorch." + w, median_of(over_pytorch));
  report(figures, "step_over_peak." + w, median_of(over_peak));
  report(figures, "rml_over_reference." + w, median_of(over_reference));
  report(figures, "rml_share." + w, median_of(share));
}

}  // namespace

void bench_training(Figures& figures) {
  set_engine_threads(hardware_threads());
  keep_memory();
  const LabelledSet images = make_images(image_count);
  PyTorchProcess pytorch("pytorch_training.py");
  pytorch.ask(fmt::format("threads {}", hardware_threads()));
  const Precision precision = choose_precision("auto", at::kCPU);
  bench_width(figures, pytorch, images, 16, precision, 12, 9);
  bench_width(figures, pytorch, images, 64, precision, 3, 9);
  if (precision == Precision::fp32) {
    report(figures, "regroup_over_pytorch.fp32_w16", figures["regroup_over_pytorch.w16"]);
  } else {
    pytorch.ask("prepare ce 16 fp32");
    Training fp32(images, "ce", 16, Precision::fp32);
    report(figures, "regroup_over_pytorch.fp32_w16",
           time_ratio(
               7, [&] { return steady(pytorch, "ce 16 fp32", 12); }, [&] { return fp32.run(12); }));
  }
}

void bench_precision(Figures& figures) {
  set_engine_threads(hardware_threads());
  keep_memory();
  const LabelledSet images = make_images(40 * batch_size);
  Training fp32(images, "ce", 16, Precision::fp32), bf16(images, "ce", 16, Precision::bf16);
  report(figures, "bf16_over_fp32",
         time_ratio(
             9, [&] { return fp32.run(12); }, [&] { return bf16.run(12); }));
}

/// An epoch of the second phase of RML-Semi over one of cross-entropy. The fewer labels the network agrees with, the
/// less its momentum model is asked; on images that are noise few keep their label, so that share is reported, too.
void bench_semi(Figures& figures) {
  set_engine_threads(hardware_threads());
  keep_memory();
  const Precision precision = choose_precision("auto", at::kCPU);
  const LabelledSet images = make_images(40 * batch_size);
  Training ce(images, "ce", 16, precision), semi(images, "rml-semi", 16, precision);
  semi.run_epoch();  // plain RML
  report(figures, "semi_over_ce",
         time_ratio(
             3, [&] { return semi.run_epoch(); }, [&] { return ce.run_epoch(); }));
  report(figures, "semi_labelled", semi.labelled_share());
}

}  // namespace regroup::bench
