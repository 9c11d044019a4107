// A linear classifier on vectors, beside plain PyTorch loops: the same vectors, batches, optimizer and threads, in
// turn.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "made_photos.h"
#include "pytorch_process.h"
#include "regroup/core/clock.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/data/vectors.h"
#include "regroup/io/npy.h"
#include "regroup/methods/method.h"
#include "regroup/nn/engine.h"
#include "regroup/train/loop.h"
#include "regroup/train/run_settings.h"

namespace regroup::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t count = 1'000'000, numbers = 768;
constexpr int classes = 100, epochs = 1000, batch_size = 256;
constexpr int rounds = 5, steps = 800;

/// Our training loop on the vectors of a file.
class Training {
 public:
  Training(const std::shared_ptr<const VectorFile>& vectors, const std::string& method, Precision precision,
           int threads)
      : settings_(settings_for(method)),
        context_(settings_, samples_of(vectors), at::kCPU, precision, threads),
        method_(method_named(method).make(context_)) {}

  /// Seconds per step, after some that do not count.
  double run() {
    constexpr int warm_up = 20;
    double start = 0;
    for (int done = 0; done < warm_up + steps;) {
      const bool finished = train_epoch(*method_, context_, place_, epochs, [&](const StepDone&) {
        if (++done == warm_up) start = clock_seconds();
        return done < warm_up + steps;
      });
      if (finished) place_ = {place_.epoch + 1, 0, 0};
    }
    return (clock_seconds() - start) / steps;
  }

 private:
  static Settings settings_for(const std::string& method) {
    std::vector<std::pair<std::string, std::string>> values{
        {"method", method}, {"recipe", "features"}, {"batch-size", std::to_string(batch_size)}};
    if (method == "ce") values.emplace_back("ema", "0");
    return run_settings(values);
  }

  static TrainingSet samples_of(const std::shared_ptr<const VectorFile>& vectors) {
    TrainingSet samples;
    samples.source = vectors;
    Stream stream(2, Purpose::synthetic);
    for (std::uint32_t i = 0; i < vectors->size(); ++i) {
      samples.positions.push_back(i);
      samples.labels.push_back(static_cast<std::int32_t>(stream.below(classes)));
    }
    samples.classes = classes;
    samples.normalisation = {std::vector<float>(numbers, 0.0F), std::vector<float>(numbers, 1.0F)};
    return samples;
  }

  Settings settings_;
  Context context_;
  std::unique_ptr<Method> method_;
  Place place_;
};

/// Random numbers; 3 GB.
fs::path write_vectors(const fs::path& folder) {
  std::vector<float> values(count * numbers);
  parallel_for(count, 10'000, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    Stream stream(1, Purpose::synthetic, 0, static_cast<std::uint32_t>(begin));
    for (std::size_t i = begin * numbers; i < end * numbers; ++i)
      values[i] = static_cast<float>(stream.uniform() * 3.4 - 1.7);
  });
  write_npy(folder / "vectors.npy", values, std::vector<std::size_t>{count, numbers});
  return folder / "vectors.npy";
}

std::string fastest_loader(PyTorchProcess& pytorch) {
  std::string fastest;
  double least = 0;
  for (int workers = 0; workers <= 2; ++workers) {
    settle();
    const std::string loop = fmt::format("dataloader{}", workers);
    const double time = pytorch.ask(fmt::format("{} {}", loop, steps / 4));
    fmt::print("{}: {:.3g} vectors per second\n", loop, batch_size / time);
    if (fastest.empty() || time < least) {
      fastest = loop;
      least = time;
    }
  }
  return fastest;
}

void compare(Figures& figures, PyTorchProcess& pytorch, const std::string& loader, const std::string& name,
             Training&& ours) {
  double our_time = 0;
  const auto ratio = [&](const std::string& command) {
    return time_ratio(
        rounds, [&] { return pytorch.ask(command); }, [&] { return our_time = ours.run(); });
  };
  report(figures, "features_over_pytorch.dataloader." + name, ratio(fmt::format("{} {}", loader, steps / 4)));
  report(figures, "features_over_pytorch.plain." + name, ratio(fmt::format("plain {}", steps)));
  report(figures, "vectors_per_second." + name, batch_size / our_time);
}

}  // namespace

void bench_features(Figures& figures) {
  const int threads = hardware_threads();
  set_engine_threads(threads);
  const MadeFolder made;
  const fs::path file = write_vectors(made.path());
  keep_memory();
  const auto vectors = std::make_shared<VectorFile>(file, 1e12, hardware_threads(), nullptr);
  PyTorchProcess pytorch("pytorch_features.py");
  pytorch.ask(fmt::format("prepare {} {} {} {}", classes, batch_size, hardware_threads(), file.string()));
  // PyTorch's loader has as many workers as are best for it.
  const std::string loader = fastest_loader(pytorch);
  const Precision best = choose_precision("auto", at::kCPU);
  for (const char* method : {"ce", "rml"}) {
    compare(figures, pytorch, loader, method, Training(vectors, method, best, threads));
    if (best == Precision::fp32) continue;
    compare(figures, pytorch, loader, fmt::format("fp32_{}", method),
            Training(vectors, method, Precision::fp32, threads));
  }
}

}  // namespace regroup::bench
