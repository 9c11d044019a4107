#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "regroup/train/observer.h"

namespace regroup {

/// Shows a run on stderr: a bar that moves on a terminal, a line an epoch otherwise.
class Console : public Observer {
 public:
  explicit Console(bool quiet);
  ~Console() override;

  void message(const std::string& sentence) override;
  void run_started(const std::string& folder) override;
  void loading(std::size_t done, std::size_t total) override;
  void step_done(const StepReport& report) override;
  void epoch_done(const EpochMetrics& metrics) override;

 private:
  void show_bar(double share, const std::string& text);
  void clear_bar();

  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point last_shown_;
  StepReport last_;
};

/// True after Ctrl-C or a request to terminate; a second one ends the program at once. Call it once, at the start.
const std::atomic<bool>& stop_requested();

}  // namespace regroup
