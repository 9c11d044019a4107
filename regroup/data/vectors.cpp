#include "regroup/data/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/simd.h"
#include "regroup/data/vector_kernels.h"

namespace regroup {
namespace {

const auto standardise_float32 = REGROUP_BEST_KERNEL(standardise_float32);
const auto standardise_float16 = REGROUP_BEST_KERNEL(standardise_float16);
const auto standardise_bfloat16 = REGROUP_BEST_KERNEL(standardise_bfloat16);
const auto round_float32 = REGROUP_BEST_KERNEL(round_float32);
const auto round_float16 = REGROUP_BEST_KERNEL(round_float16);
const auto round_bfloat16 = REGROUP_BEST_KERNEL(round_bfloat16);

/// About a megabyte of rows.
std::size_t rows_at_a_time(std::size_t numbers) { return 1 + (std::size_t{1} << 18) / numbers; }

SampleView view_of(std::span<const std::byte> row, NumberType type) {
  return {{reinterpret_cast<const std::uint8_t*>(row.data()), row.size()}, 1, 1, type};
}

void fetch(std::span<const std::byte> row) {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < row.size(); i += line) __builtin_prefetch(&row[i], 0, 0);
}

std::size_t checked_count(const SampleView& vector, std::size_t scale, std::size_t offset, std::size_t out) {
  const std::size_t count = vector.size() / bytes_of(vector.type);
  if (scale != count || offset != count || out != count)
    throw std::invalid_argument("standardise: not as many numbers as the vector has");
  return count;
}

}  // namespace

void standardise(const SampleView& vector, std::span<const float> scale, std::span<const float> offset,
                 std::span<float> out) {
  const std::size_t count = checked_count(vector, scale.size(), offset.size(), out.size());
  const auto run = vector.type == NumberType::float32   ? standardise_float32
                   : vector.type == NumberType::float16 ? standardise_float16
                                                        : standardise_bfloat16;
  run(reinterpret_cast<const std::byte*>(vector.data()), count, scale.data(), offset.data(), out.data());
}

void standardise_rounded(const SampleView& vector, std::span<const float> scale, std::span<const float> offset,
                         std::span<std::uint16_t> out) {
  const std::size_t count = checked_count(vector, scale.size(), offset.size(), out.size());
  const auto run = vector.type == NumberType::float32   ? round_float32
                   : vector.type == NumberType::float16 ? round_float16
                                                        : round_bfloat16;
  run(reinterpret_cast<const std::byte*>(vector.data()), count, scale.data(), offset.data(), out.data());
}

void read_numbers(const SampleView& vector, std::span<float> out) {
  thread_local std::vector<float> ones, zeros;
  ones.resize(out.size(), 1.0F);
  // A product with one and a sum with minus zero leave every number as it is, minus zero too.
  zeros.resize(out.size(), -0.0F);
  standardise(vector, ones, zeros, out);
}

VectorFile::VectorFile(const std::filesystem::path& file, double most_memory, int threads,
                       const std::function<void(std::size_t done, std::size_t total)>& progress)
    : rows_(file) {
  const std::size_t row_bytes = rows_.header().row_bytes();
  if (static_cast<double>(row_bytes) * static_cast<double>(size()) > most_memory) {
    // While one window is read the system may still hold the one before.
    constexpr std::size_t fewest = 256;
    const auto fit = static_cast<std::size_t>(most_memory / 2 / static_cast<double>(row_bytes));
    window_ = std::min(std::max(fit, fewest), size());
    most_bytes_ = window_ * row_bytes;
  }
  std::mutex mutex;
  std::size_t done = 0, bad_row = size();
  const std::size_t numbers = rows_.header().columns;
  parallel_for(size(), rows_at_a_time(numbers), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(numbers);
    SampleScratch scratch;
    std::size_t bad = size();
    for (std::size_t i = begin; i < end && bad == size(); ++i) {
      read_numbers(read(static_cast<std::uint32_t>(i), scratch), row);
      // A product with zero is zero, but for what is not finite.
      float sum = 0;
      for (const float value : row) sum += value * 0;
      if (sum != 0) bad = i;
    }
    const std::lock_guard lock(mutex);
    bad_row = std::min(bad_row, bad);
    done += end - begin;
    if (progress) progress(done, size());
  });
  if (bad_row < size())
    throw UserError(fmt::format("{}: row {} has a value that is infinite or not a number; mend or remove the row",
                                file.string(), bad_row));
}

SampleView VectorFile::read(std::uint32_t index, SampleScratch& /*scratch*/) const {
  if (index >= size()) throw std::out_of_range(fmt::format("row {} of {}", index, size()));
  if (most_bytes_ > 0) {
    const std::size_t row_bytes = rows_.header().row_bytes();
    const std::size_t before = looked_at_.fetch_add(row_bytes, std::memory_order_relaxed);
    if (before / most_bytes_ != (before + row_bytes) / most_bytes_) rows_.release();
  }
  return view_of(rows_.row(index), rows_.header().type);
}

void VectorFile::expect(std::uint32_t index) const {
  if (index < size()) fetch(rows_.row(index));
}

std::uint64_t VectorFile::digest(std::uint64_t before) const {
  constexpr std::size_t looks = 4000;
  const RowsHeader& header = rows_.header();
  const std::array<std::uint64_t, 3> sizes{header.rows, header.columns, static_cast<std::uint64_t>(header.type)};
  std::uint64_t hash = hash_of({reinterpret_cast<const std::uint8_t*>(sizes.data()), sizeof sizes}, before);
  SampleScratch scratch;
  const std::size_t stride = 1 + (size() - 1) / looks;
  for (std::size_t i = 0; i < size(); i += stride) hash = hash_of(read(static_cast<std::uint32_t>(i), scratch), hash);
  return hash;
}

VectorsInMemory::VectorsInMemory(int numbers, std::vector<float> values)
    : numbers_(numbers), values_(std::move(values)) {
  if (numbers < 1 || values_.size() % static_cast<std::size_t>(numbers) != 0)
    throw std::invalid_argument("the values are not those of whole vectors");
}

SampleView VectorsInMemory::read(std::uint32_t index, SampleScratch& /*scratch*/) const {
  if (index >= size()) throw std::out_of_range(fmt::format("vector {} of {}", index, size()));
  const auto count = static_cast<std::size_t>(numbers_);
  return view_of(std::as_bytes(std::span(values_).subspan(index * count, count)), NumberType::float32);
}

void VectorsInMemory::expect(std::uint32_t index) const {
  const auto count = static_cast<std::size_t>(numbers_);
  if (index < size()) fetch(std::as_bytes(std::span(values_).subspan(index * count, count)));
}

std::uint64_t VectorsInMemory::digest(std::uint64_t before) const {
  const auto bytes = std::as_bytes(std::span(values_));
  return hash_of({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, before);
}

Normalisation measure_vectors(const SampleSource& vectors, int threads) {
  if (vectors.size() == 0) throw UserError("there are no vectors to measure mean and deviation of; give at least one");
  const std::size_t numbers = vectors.shape().values();
  SampleScratch first_scratch;
  // Sums of differences to some row, so that large numbers that hardly vary keep their deviation.
  std::vector<float> first(numbers);
  read_numbers(vectors.read(0, first_scratch), first);
  // Parts are summed by themselves and then in their order, so that the result does not depend on the threads.
  struct Sums {
    std::vector<double> values, squares;
  };
  constexpr std::size_t most_parts = 64;
  const std::size_t part = 1 + (vectors.size() - 1) / most_parts, parts = 1 + (vectors.size() - 1) / part;
  std::vector<Sums> sums(parts);
  parallel_for(parts, 1, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(numbers);
    SampleScratch scratch;
    for (std::size_t p = begin; p < end; ++p) {
      Sums& own = sums[p];
      own = {std::vector<double>(numbers), std::vector<double>(numbers)};
      for (std::size_t i = p * part; i < std::min((p + 1) * part, vectors.size()); ++i) {
        read_numbers(vectors.read(static_cast<std::uint32_t>(i), scratch), row);
        for (std::size_t d = 0; d < numbers; ++d) {
          const double difference = static_cast<double>(row[d]) - static_cast<double>(first[d]);
          own.values[d] += difference;
          own.squares[d] += difference * difference;
        }
      }
    }
  });
  Normalisation result;
  const auto count = static_cast<double>(vectors.size());
  for (std::size_t d = 0; d < numbers; ++d) {
    double sum = 0, squares = 0;
    for (const Sums& own : sums) {
      sum += own.values[d];
      squares += own.squares[d];
    }
    const double deviation = std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
    const double mean = static_cast<double>(first[d]) + sum / count;
    result.mean.push_back(static_cast<float>(mean));
    // What varies less than a float can tell does not vary.
    const bool varies = deviation > 1e-30 && deviation > 1e-7 * std::abs(mean);
    result.deviation.push_back(varies ? static_cast<float>(deviation) : 1.0F);
  }
  return result;
}

}  // namespace regroup
