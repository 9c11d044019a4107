// regroup_bench OUTPUT [GROUP]: runs all benchmarks or one group and writes the figures as one flat JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include "bench.h"
#include "regroup/core/clock.h"

namespace regroup::bench {

void report(Figures& figures, const std::string& name, double value) {
  figures[name] = value;
  fmt::print("{:<48} {:.3g}\n", name, value);
  std::fflush(stdout);
}

double seconds(const std::function<void()>& call) {
  const double start = clock_seconds();
  call();
  return clock_seconds() - start;
}

void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(250)); }

double time_ratio(int rounds, const std::function<double()>& slow, const std::function<double()>& fast) {
  slow();
  fast();
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    settle();
    const double slow_seconds = slow();
    settle();
    ratios.push_back(slow_seconds / fast());
  }
  const auto middle = ratios.begin() + rounds / 2;
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

}  // namespace regroup::bench

int main(int argc, char** argv) {
  using regroup::bench::Figures;
  const std::map<std::string, void (*)(Figures&)> groups = {
      {"audit", regroup::bench::bench_audit},         {"decode", regroup::bench::bench_decode},
      {"estimator", regroup::bench::bench_estimator}, {"features", regroup::bench::bench_features},
      {"precision", regroup::bench::bench_precision}, {"semi", regroup::bench::bench_semi},
      {"stream", regroup::bench::bench_stream},       {"training", regroup::bench::bench_training}};
  const std::string only = argc > 2 ? argv[2] : "";
  if (argc < 2 || (!only.empty() && !groups.contains(only))) {
    std::string names;
    for (const auto& [name, run] : groups) names += " " + name;
    fmt::print(stderr, "usage: regroup_bench OUTPUT [GROUP]; groups:{}\n", names);
    return 2;
  }

  Figures figures;
  for (const auto& [name, run] : groups)
    if (only.empty() || only == name) run(figures);

  std::ofstream out(argv[1]);
  out << "{\n";
  std::string separator;
  for (const auto& [name, value] : figures) {
    out << separator << fmt::format("  \"{}\": {:.6g}", name, value);
    separator = ",\n";
  }
  out << "\n}\n";
  out.close();
  if (!out) {
    fmt::print(stderr, "{}: cannot write the figures\n", argv[1]);
    return 1;
  }
}
