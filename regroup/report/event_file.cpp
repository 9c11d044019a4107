#include "regroup/report/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/io/protobuf.h"

namespace regroup {
namespace {

constexpr std::size_t pending_limit = 1U << 16;

/// CRC-32C (Castagnoli), a byte at a time.
std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value % 2 == 1 ? 0x82f63b78U : 0);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
  return ~crc;
}

/// Checksums are stored rotated and shifted, so that one of data that holds a checksum is not special.
std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8U; }

std::string frame(std::string_view message) {
  std::string record;
  put_little_endian<std::uint64_t>(record, message.size());
  put_little_endian(record, masked_crc(record));
  record += message;
  put_little_endian(record, masked_crc(message));
  return record;
}

/// Event { double wall_time = 1; int64 step = 2; ...
ProtobufMessage start_event(double wall_time, std::int64_t step) {
  ProtobufMessage event;
  event.number(1, wall_time);
  if (step != 0) event.whole(2, step);
  return event;
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

int create(const std::filesystem::path& file, int flags) {
  return open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
}

}  // namespace

std::string scalar_record(std::string_view tag, double value, std::int64_t step, double wall_time) {
  // Summary.Value { string tag = 1; float simple_value = 2; }
  ProtobufMessage entry;
  entry.bytes(1, tag);
  entry.number(2, static_cast<float>(value));
  // Summary { repeated Value value = 1; }
  ProtobufMessage summary;
  summary.message(1, entry);
  // ... Summary summary = 5; }
  ProtobufMessage event = start_event(wall_time, step);
  event.message(5, summary);
  return frame(event.encoded());
}

std::string version_record(double wall_time) {
  // ... string file_version = 3; }
  ProtobufMessage event = start_event(wall_time, 0);
  event.bytes(3, "brain.Event:2");
  return frame(event.encoded());
}

EventWriter::EventWriter(const std::filesystem::path& folder, const std::optional<std::string>& name) {
  const double time = now();
  if (name) {
    file_ = folder / *name;
    descriptor_ = create(file_, O_TRUNC);
  } else {
    const auto stem = fmt::format("events.out.tfevents.{:.0f}.{}.{}", std::floor(time), host_name(), getpid());
    for (int i = 0; i == 0 || (descriptor_ < 0 && errno == EEXIST); ++i) {
      file_ = folder / (i == 0 ? stem : fmt::format("{}.{}", stem, i));
      descriptor_ = create(file_, O_EXCL);
    }
  }
  if (descriptor_ < 0) {
    throw UserError(fmt::format("{}: cannot be written ({}); does its folder exist?", file_.string(),
                                std::generic_category().message(errno)));
  }
  pending_ = version_record(time);
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const UserError&) {
    // Whoever wants to know calls flush().
    pending_.clear();
  }
  close(descriptor_);
}

void EventWriter::scalar(std::string_view tag, double value, std::int64_t step, double wall_time) {
  pending_ += scalar_record(tag, value, step, wall_time);
  if (pending_.size() >= pending_limit) flush();
}

void EventWriter::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t done = write(descriptor_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const std::string reason = std::generic_category().message(errno);
      // What was written is not written again by the next flush.
      pending_.erase(0, pending_.size() - rest.size());
      throw UserError(fmt::format("{}: cannot be written ({}); is the disk full?", file_.string(), reason));
    }
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  pending_.clear();
}

}  // namespace regroup
