#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "regroup/train/observer.h"

namespace regroup {

/// Shows a run on stderr: a bar that moves on a terminal; otherwise a line per epoch, and at least one per minute.
class Console : public Observer {
 public:
  /// `silence`: without a terminal, how long nothing may be said. A little under a minute: what is said is late.
  explicit Console(bool quiet, std::chrono::milliseconds silence = std::chrono::seconds(50));
  ~Console() override;

  void message(const std::string& sentence) override;
  void note(const std::string& sentence) override;
  void run_started(const std::string& folder) override;
  void loading(std::size_t done, std::size_t total) override;
  void step_done(const StepReport& report) override;
  void epoch_done(const EpochMetrics& metrics, int epochs) override;

 private:
  using Clock = std::chrono::steady_clock;

  void print_line(const std::string& line);
  void show(double share, const std::string& text);
  void clear_bar();
  void tell_every_minute(const std::stop_token& stop);

  bool quiet_;
  bool terminal_;
  std::chrono::milliseconds silence_;
  std::mutex
      mutex_;  ///< of all that follows: images are read on several threads, and the minutes have one of their own
  bool bar_shown_ = false;
  Clock::time_point last_shown_;  ///< a bar or a line
  Clock::time_point loading_since_;
  std::size_t loaded_ = 0;  ///< images at that time
  std::string status_;      ///< what the bar says, or would say on a terminal
  std::condition_variable_any ended_;
  std::jthread minutes_;
};

/// A text as one word of a shell's command line, in quotes where it needs them.
std::string shell_word(const std::string& text);

/// True after Ctrl-C or a request to terminate; a second one ends the program at once. Call it once, at the start.
const std::atomic<bool>& stop_requested();

/// Thrown where work ended because it was asked to, and is saved. The exit code is the one that a shell gives a program
/// that a signal ended: 130 after Ctrl-C, 143 after a request to terminate.
struct Stopped {
  static int exit_code();
};

}  // namespace regroup
