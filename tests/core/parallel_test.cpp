#include "regroup/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace regroup {
namespace {

TEST(ParallelFor, VisitsEveryItemOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const std::size_t count : {0U, 1U, 10U, 1000U}) {
      std::vector<int> visits(count);
      parallel_for(count, 3, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(count, 1)) << threads << " threads, " << count << " items";
    }
  }
}

TEST(ParallelFor, ChunksHaveTheAskedSize) {
  std::atomic<int> short_chunks = 0;
  parallel_for(103, 10, 2, [&](std::size_t begin, std::size_t end) {
    EXPECT_EQ(begin % 10, 0U);
    if (end - begin != 10) ++short_chunks;
  });
  EXPECT_EQ(short_chunks, 1);
}

TEST(ParallelFor, RethrowsAndStartsNoFurtherChunk) {
  for (const int threads : {1, 2, 7}) {
    std::atomic<int> chunks = 0;
    EXPECT_THROW(parallel_for(1'000'000, 1, threads,
                              [&](std::size_t, std::size_t) {
                                ++chunks;
                                throw std::runtime_error("stop");
                              }),
                 std::runtime_error);
    EXPECT_LE(chunks, threads);
  }
}

TEST(ParallelFor, ZeroGrainOrThreadsStillWork) {
  int visits = 0;
  parallel_for(5, 0, 0, [&](std::size_t begin, std::size_t end) { visits += static_cast<int>(end - begin); });
  EXPECT_EQ(visits, 5);
}

}  // namespace
}  // namespace regroup
