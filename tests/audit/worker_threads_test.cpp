#include "regroup/audit/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace regroup {
namespace {

TEST(WorkerThreads, DoEverythingThatWasAdded) {
  std::atomic<int> done = 0;
  {
    WorkerThreads workers(3, 1000);
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(workers.add([&] { ++done; }));
    workers.finish();
    EXPECT_EQ(done, 500);
    EXPECT_FALSE(workers.add([&] { ++done; })) << "after the end";
  }
  EXPECT_EQ(done, 500);
}

TEST(WorkerThreads, RefuseMoreThanMayWait) {
  std::binary_semaphore begun(0), go_on(0);
  std::atomic<int> done = 0;
  WorkerThreads workers(1, 2);
  workers.add([&] {
    begun.release();
    go_on.acquire();
  });
  begun.acquire();
  EXPECT_EQ(workers.waiting(), 0U);
  for (const bool taken : {true, true, false}) EXPECT_EQ(workers.add([&] { ++done; }), taken);
  EXPECT_EQ(workers.waiting(), 2U);
  go_on.release();
  workers.finish();
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace regroup
