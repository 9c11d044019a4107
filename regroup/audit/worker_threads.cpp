#include "regroup/audit/worker_threads.h"

#include <utility>

namespace regroup {

WorkerThreads::WorkerThreads(int threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  } catch (...) {
    finish();
    throw;
  }
}

bool WorkerThreads::add(const std::function<void()>& work) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_over_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(work);
  }
  more_.notify_one();
  return true;
}

std::size_t WorkerThreads::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

void WorkerThreads::finish() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerThreads::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
  }
}

}  // namespace regroup
