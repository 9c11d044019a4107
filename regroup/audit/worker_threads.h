#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace regroup {

/// A fixed number of threads that do what is added, in its order.
class WorkerThreads {
 public:
  WorkerThreads(int threads, std::size_t most_waiting);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() { finish(); }

  /// False, and nothing is done, where too much waits already. `work` must not throw.
  bool add(const std::function<void()>& work);

  /// How much has been added that no thread has begun.
  std::size_t waiting() const;

  /// Returns when all that was added is done.
  void finish();

 private:
  void run();

  std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> waiting_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace regroup
