// What the estimator keeps between epochs, counted by operators new and delete of this test program.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "regroup/rml/loss_book.h"
#include "regroup/rml/regroup_median.h"

namespace {
std::atomic<std::size_t> bytes_held = 0;
}

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  bytes_held += malloc_usable_size(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  bytes_held -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace regroup {
namespace {

TEST(Memory, AtMost16BytesASampleAreKeptBetweenEpochs) {
  constexpr std::size_t samples = 200'000;
  constexpr int classes = 10;
  std::vector<std::int32_t> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) labels[i] = static_cast<std::int32_t>(i % classes);

  std::vector<std::uint32_t> indices(samples);
  std::iota(indices.begin(), indices.end(), 0U);
  const std::vector<float> losses(samples, 0.5F);
  std::vector<float> weights(samples);

  const std::size_t before = bytes_held;
  LossBook book(samples);
  RegroupOptions options;
  options.draw = DrawSize::per_group(20);
  RegroupMedian rml(ClassIndex(labels, classes), options, 2);
  book.record(indices, losses);
  rml.weights(book.losses(), 1, weights);
  const std::size_t kept = bytes_held - before;
  EXPECT_GE(kept, 4 * samples) << "the losses at least are counted";
  EXPECT_LE(kept, 16 * samples);
}

}  // namespace
}  // namespace regroup
