#include "console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "output.h"
#include "regroup/train/duration.h"
#include "regroup/train/metrics.h"

namespace regroup {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> stop_signal{SIGINT};

extern "C" void ask_to_stop(int signal) {
  stop_signal = signal;
  if (stop.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share); }

}  // namespace

const std::atomic<bool>& stop_requested() {
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  return stop;
}

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("-_./,:+@%", c) != nullptr; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int Stopped::exit_code() { return 128 + stop_signal; }

Console::Console(bool quiet, std::chrono::milliseconds silence)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), silence_(silence), last_shown_(Clock::now()) {
  if (!quiet_ && !terminal_) minutes_ = std::jthread([this](const std::stop_token& stop) { tell_every_minute(stop); });
}

Console::~Console() {
  const std::lock_guard lock(mutex_);
  clear_bar();
}

void Console::message(const std::string& sentence) { print_line(sentence); }

void Console::note(const std::string& sentence) {
  if (!quiet_) print_line(sentence);
}

void Console::run_started(const std::string& folder) { note(fmt::format("The run is {}.", folder)); }

void Console::loading(std::size_t done, std::size_t total) {
  if (total == 0) return;
  std::string text = fmt::format("reading, {} of {}", done, total);
  {
    const std::lock_guard lock(mutex_);
    if (loaded_ == 0 || done < loaded_) {
      loading_since_ = Clock::now();
      loaded_ = done;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - loading_since_).count();
    if (seconds > 2 && done > loaded_)
      text += fmt::format("  {} left", duration_text(seconds * static_cast<double>(total - done) /
                                                     static_cast<double>(done - loaded_)));
  }
  show(static_cast<double>(done) / static_cast<double>(total), text);
}

void Console::step_done(const StepReport& report) {
  show(static_cast<double>(report.step) / static_cast<double>(report.steps),
       fmt::format("epoch {}/{}  loss {:.3f}  {:.0f} samples/s  {} left", report.epoch, report.epochs, report.loss,
                   report.images_per_second, duration_text(report.seconds_left)));
}

void Console::epoch_done(const EpochMetrics& metrics, int epochs) {
  if (quiet_) return;
  std::string line = fmt::format("epoch {:>3}/{}  loss {:.3f}", metrics.epoch, epochs, metrics.value("train_loss"));
  for (const auto& [name, value] : metrics.values)
    if ((name.starts_with("val_") || name.starts_with("test_") || name.starts_with("test-")) && !std::isnan(value))
      line += fmt::format("  {} {}", name, percent(value));
  if (!std::isnan(metrics.value("weight_noisy")))
    line += fmt::format("  weights {:.2f}/{:.2f}  memorised {}", metrics.value("weight_clean"),
                        metrics.value("weight_noisy"), percent(metrics.value("memorised")));
  print_line(fmt::format("{}  {:.1f} s", line, metrics.value("seconds")));
}

void Console::print_line(const std::string& line) {
  const std::lock_guard lock(mutex_);
  clear_bar();
  print_error(line);
  last_shown_ = Clock::now();
}

void Console::show(double share, const std::string& text) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  status_ = fmt::format("{:3.0f} %  {}", 100 * share, text);
  const auto now = Clock::now();
  if (!terminal_ || (bar_shown_ && now - last_shown_ < std::chrono::milliseconds(100))) return;
  last_shown_ = now;
  constexpr std::size_t cells = 24;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * cells);
  std::string line = fmt::format("[{}{}] {}", std::string(full, '#'), std::string(cells - full, '.'), text);
  line.resize(std::min(line.size(), terminal_width() - 1));
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  bar_shown_ = true;
}

void Console::clear_bar() {
  if (!bar_shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  bar_shown_ = false;
}

/// Measuring and reading say nothing by themselves: whoever reads a log sees that the program is alive.
void Console::tell_every_minute(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto due = last_shown_ + silence_;
    if (Clock::now() < due) {
      ended_.wait_until(lock, stop, due, [] { return false; });
      continue;
    }
    print_error(status_.empty() ? "working" : status_);
    last_shown_ = Clock::now();
  }
}

}  // namespace regroup
