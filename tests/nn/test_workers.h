#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "regroup/core/workers.h"

namespace regroup {

inline Workers threads(std::size_t count) {
  return {count, [](std::size_t tasks, const std::function<void(std::size_t)>& body) {
            std::vector<std::thread> others;
            for (std::size_t task = 0; task < tasks; ++task) others.emplace_back(body, task);
            for (std::thread& other : others) other.join();
          }};
}

}  // namespace regroup
