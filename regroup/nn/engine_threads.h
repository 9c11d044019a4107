#pragma once

#include <ATen/Parallel.h>

#include "regroup/core/workers.h"

namespace regroup {

/// Our own kernels run on the threads of the engine.
inline Workers engine_threads() {
  return {static_cast<std::size_t>(at::get_num_threads()), [](std::size_t tasks, const auto& body) {
            at::parallel_for(0, static_cast<std::int64_t>(tasks), 1, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t task = begin; task < end; ++task) body(static_cast<std::size_t>(task));
            });
          }};
}

}  // namespace regroup
