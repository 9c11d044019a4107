#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

namespace regroup {

/// How work is shared. `run(tasks, body)` calls body(0) .. body(tasks - 1), in any order, at once or one by one, and
/// returns when all are done; it is never asked for more than `count` tasks. Results do not depend on either.
struct Workers {
  std::size_t count = 1;
  std::function<void(std::size_t tasks, const std::function<void(std::size_t task)>& body)> run;
};

inline Workers one_by_one() {
  return {1, [](std::size_t tasks, const std::function<void(std::size_t task)>& body) {
            for (std::size_t task = 0; task < tasks; ++task) body(task);
          }};
}

/// Calls body(item, worker) for each item. A worker takes the next item when it is done with one.
template <class Body>
void for_each(std::size_t items, const Workers& workers, const Body& body) {
  std::atomic<std::size_t> next = 0;
  const auto take_items = [&](std::size_t worker) {
    for (std::size_t item = next++; item < items; item = next++) body(item, worker);
  };
  workers.run(std::min(items, workers.count), std::ref(take_items));  // a reference needs no memory
}

}  // namespace regroup
