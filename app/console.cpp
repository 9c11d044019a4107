#include "console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "regroup/train/duration.h"
#include "regroup/train/metrics.h"

namespace regroup {
namespace {

std::atomic<bool> stop{false};

extern "C" void ask_to_stop(int signal) {
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

Console::Console(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

Console::~Console() { clear_bar(); }

void Console::message(const std::string& sentence) {
  clear_bar();
  fmt::print(stderr, "{}\n", sentence);
}

void Console::run_started(const std::string& folder) {
  if (!quiet_) message(fmt::format("The run is {}.", folder));
}

void Console::loading(std::size_t done, std::size_t total) {
  if (total > 0)
    show_bar(static_cast<double>(done) / static_cast<double>(total),
             fmt::format("reading images, {} of {}", done, total));
}

void Console::step_done(const StepReport& report) {
  last_ = report;
  show_bar(static_cast<double>(report.step) / static_cast<double>(report.steps),
           fmt::format("epoch {}/{}  loss {:.3f}  {:.0f} images/s  {} left", report.epoch, report.epochs, report.loss,
                       report.images_per_second, duration_text(report.seconds_left)));
}

void Console::epoch_done(const EpochMetrics& metrics) {
  if (quiet_) return;
  clear_bar();
  std::string line =
      fmt::format("epoch {:>3}/{}  loss {:.3f}", metrics.epoch, last_.epochs, metrics.value("train_loss"));
  for (const auto& [name, value] : metrics.values)
    if ((name.starts_with("val_") || name.starts_with("test_")) && !std::isnan(value))
      line += fmt::format("  {} {}", name, percent(value));
  if (!std::isnan(metrics.value("weight_noisy")))
    line += fmt::format("  weights {:.2f}/{:.2f}  memorised {}", metrics.value("weight_clean"),
                        metrics.value("weight_noisy"), percent(metrics.value("memorised")));
  fmt::print(stderr, "{}  {:.1f} s\n", line, metrics.value("seconds"));
}

void Console::show_bar(double share, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || !terminal_ || (bar_shown_ && now - last_shown_ < std::chrono::milliseconds(100))) return;
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

}  // namespace regroup
