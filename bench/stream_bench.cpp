// Training on photos that are decoded from disk in every epoch, beside the same from memory.
#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "bench.h"
#include "made_photos.h"
#include "regroup/core/clock.h"
#include "regroup/core/parallel.h"
#include "regroup/nn/engine.h"
#include "regroup/train/loop.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_settings.h"

namespace regroup::bench {
namespace {

/// A run on a folder of photos, as the trainer sets it up.
class PhotoTraining {
 public:
  PhotoTraining(const std::string& folder, const std::string& keep)
      : settings_(run_settings({{"data", "folder:" + folder},
                                {"method", "ce"},
                                {"recipe", "paper"},
                                {"model", "resnet18-imagenet"},
                                {"image-size", "224"},
                                {"crop", "random"},
                                {"batch-size", "32"},
                                {"ema", "0"},
                                {"keep-images", keep}})),
        data_(load_run_data(settings_, hardware_threads(), observer_)),
        context_(settings_, training_set(data_), at::kCPU, choose_precision("auto", at::kCPU), hardware_threads()),
        method_(method_named("ce").make(context_)) {}

  /// Seconds of so many steps; those of the first batch do not count.
  double run(int steps) {
    double start = 0;
    for (int done = -1; done < steps;) {
      const bool finished = train_epoch(*method_, context_, place_, 1000, [&](const StepDone&) {
        if (++done == 0) start = clock_seconds();
        return done < steps;
      });
      if (finished) place_ = {place_.epoch + 1, 0, 0};
    }
    return clock_seconds() - start;
  }

 private:
  Observer observer_;
  Settings settings_;
  RunData data_;
  Context context_;
  std::unique_ptr<Method> method_;
  Place place_;
};

}  // namespace

void bench_stream(Figures& figures) {
  set_engine_threads(hardware_threads());
  const MadeFolder made;
  for (const std::string name : {"a", "b"}) make_photos(made.path() / name, 250, {256, 341});
  PhotoTraining memory(made.path().string(), "memory"), disk(made.path().string(), "disk");
  constexpr int rounds = 7, steps = 10;
  report(figures, "stream_over_memory",
         time_ratio(
             rounds, [&] { return memory.run(steps); }, [&] { return disk.run(steps); }));
}

}  // namespace regroup::bench
