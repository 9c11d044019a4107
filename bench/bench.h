#pragma once

#include <functional>
#include <map>
#include <string>

namespace regroup::bench {

/// Figures by name, as they go into bench.json.
using Figures = std::map<std::string, double>;

/// Adds a figure and shows it.
void report(Figures& figures, const std::string& name, double value);

/// Seconds that a call takes.
double seconds(const std::function<void()>& call);

/// Calls both in turn, `rounds` times, and gives the median of seconds of `slow` over seconds of `fast`. Machines are
/// shared: two times taken side by side have a ratio that means something, one time alone has not. A first, uncounted
/// round warms up.
double time_ratio(int rounds, const std::function<double()>& slow, const std::function<double()>& fast);

/// The idle threads of one engine spin for some milliseconds before they sleep, and the workers of a loader go on until
/// they have prepared the next batches, at the cost of whoever runs next: waits until they rest.
void settle();

void bench_audit(Figures& figures);
void bench_decode(Figures& figures);
void bench_estimator(Figures& figures);
void bench_features(Figures& figures);
void bench_precision(Figures& figures);
void bench_semi(Figures& figures);
void bench_stream(Figures& figures);
void bench_training(Figures& figures);

}  // namespace regroup::bench
