#pragma once

#include <cstddef>
#include <string>

namespace regroup {

struct EpochMetrics;

/// Where a run is.
struct StepReport {
  int epoch = 0, epochs = 0;  ///< the epoch counts from 1
  std::size_t step = 0, steps = 0;
  double loss = 0;  ///< of the batch
  double images_per_second = 0;
  double seconds_left = 0;  ///< of the whole run, as far as can be told
};

/// Whoever watches a run. Does nothing by itself.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  virtual void message(const std::string& /*sentence*/) {}  ///< a warning, or what must be known
  virtual void note(const std::string& /*sentence*/) {}     ///< what was found and decided
  virtual void run_started(const std::string& /*folder*/) {}
  virtual void loading(std::size_t /*done*/, std::size_t /*total*/) {}
  virtual void step_done(const StepReport& /*report*/) {}
  virtual void epoch_done(const EpochMetrics& /*metrics*/, int /*epochs*/) {}
};

}  // namespace regroup
