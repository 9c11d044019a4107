#include "regroup/report/event_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/temporary_folder.h"
#include "support/user_error.h"

namespace regroup {
namespace {

/// One bit at a time, as the definition has it.
std::uint32_t slow_crc32c(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((crc ^ static_cast<std::uint32_t>(static_cast<unsigned char>(c) >> bit)) & 1) == 1;
      crc = crc >> 1 ^ (odd ? 0x82f63b78 : 0);
    }
  }
  return ~crc;
}

struct Event {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version;
  std::string tag;
  float value = 0;
};

/// Decodes event files slowly, and throws at whatever is not as it should be.
class Decoder {
 public:
  explicit Decoder(std::string bytes) : rest_(std::move(bytes)) {}

  std::vector<Event> records() {
    std::vector<Event> events;
    while (!rest_.empty()) {
      const std::string length = take(8);
      check(length);
      const std::string message = take(number<std::uint64_t>(length));
      check(message);
      events.push_back(event(message));
    }
    return events;
  }

 private:
  std::string take(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("the record is cut");
    const std::string bytes = rest_.substr(0, size);
    rest_.erase(0, size);
    return bytes;
  }

  template <typename T>
  static T number(const std::string& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  void check(const std::string& bytes) {
    const std::uint32_t crc = slow_crc32c(bytes);
    const std::uint32_t masked = (crc >> 15 | crc << 17) + 0xa282ead8;
    if (number<std::uint32_t>(take(4)) != masked) throw std::runtime_error("wrong checksum");
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  static Event event(const std::string& message) {
    Event result;
    Decoder fields(message);
    while (!fields.rest_.empty()) {
      switch (fields.varint()) {
        case 1 << 3 | 1:
          result.wall_time = number<double>(fields.take(8));
          break;
        case 2 << 3 | 0:
          result.step = static_cast<std::int64_t>(fields.varint());
          break;
        case 3 << 3 | 2:
          result.version = fields.take(fields.varint());
          break;
        case 5 << 3 | 2:
          summary(fields.take(fields.varint()), result);
          break;
        default:
          throw std::runtime_error("unknown field of Event");
      }
    }
    return result;
  }

  static void summary(const std::string& message, Event& result) {
    Decoder outer(message);
    if (outer.varint() != (1 << 3 | 2)) throw std::runtime_error("unknown field of Summary");
    Decoder inner(outer.take(outer.varint()));
    if (inner.varint() != (1 << 3 | 2)) throw std::runtime_error("no tag");
    result.tag = inner.take(inner.varint());
    if (inner.varint() != (2 << 3 | 5)) throw std::runtime_error("no simple_value");
    result.value = number<float>(inner.take(4));
    if (!inner.rest_.empty() || !outer.rest_.empty()) throw std::runtime_error("more than a value");
  }

  std::string rest_;
};

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

TEST(EventFile, TheSlowChecksumIsCrc32c) { EXPECT_EQ(slow_crc32c("123456789"), 0xe3069283U); }

TEST(EventFile, RecordsAreTheBytesThatTensorFlowWrites) {
  // Made with tensorboard 2.21's Event message and RecordWriter.
  EXPECT_EQ(hex(version_record(1700000000.5)),
            "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110");
  EXPECT_EQ(hex(scalar_record("val/top1", 0.25, 300, 1700000001.0)),
            "1f00000000000000514b44180900004040fc54d94110ac022a110a0f0a0876616c2f746f7031150000803e687c4796");
}

TEST(EventFile, ReadsBackAsItWasWritten) {
  const TemporaryFolder folder;
  std::filesystem::path file;
  {
    EventWriter writer(folder.path());
    file = writer.file();
    writer.scalar("train/loss", 2.5, 0, 1.5);
    writer.scalar("", -0.0, -1, 0);
    writer.scalar(std::string(300, 'x'), 1e300, std::numeric_limits<std::int64_t>::max(), 1e9);
    writer.scalar("nan", std::nan(""), 1 << 20, 1e9);
  }
  const auto events = Decoder(content(file)).records();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_NEAR(events[0].wall_time, static_cast<double>(std::time(nullptr)), 100);
  EXPECT_EQ(events[1].tag, "train/loss");
  EXPECT_EQ(events[1].value, 2.5F);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_EQ(events[1].wall_time, 1.5);
  EXPECT_EQ(events[2].step, -1);
  EXPECT_EQ(events[3].tag, std::string(300, 'x'));
  EXPECT_EQ(events[3].value, std::numeric_limits<float>::infinity());
  EXPECT_EQ(events[3].step, std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(std::isnan(events[4].value));
}

TEST(EventFile, AFlushWritesThrough) {
  const TemporaryFolder folder;
  EventWriter writer(folder.path(), "events.out.tfevents.1.host.2");
  EXPECT_EQ(writer.file(), folder.path() / "events.out.tfevents.1.host.2");
  for (int epoch = 1; epoch <= 3; ++epoch) {
    writer.scalar("val/top1", 0.5, epoch, 1);
    writer.flush();
    EXPECT_EQ(Decoder(content(writer.file())).records().size(), 1U + static_cast<std::size_t>(epoch));
  }
}

TEST(EventFile, AResumedRunMakesAnotherFile) {
  const TemporaryFolder folder;
  const EventWriter first(folder.path());
  const EventWriter second(folder.path());
  const EventWriter third(folder.path());
  EXPECT_NE(first.file(), second.file());
  EXPECT_NE(second.file(), third.file());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
  EXPECT_EQ(first.file().filename().string().rfind("events.out.tfevents.", 0), 0U);
}

TEST(EventFile, WhatCannotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "missing";
  EXPECT_EQ(user_error([&] { EventWriter(missing, "x"); }),
            (missing / "x").string() + ": cannot be written (No such file or directory); does its folder exist?");
}

TEST(EventFile, AFullDiskIsAnErrorOfTheFlushAndNotOfTheEnd) {
  const TemporaryFolder folder;
  // A limit on the size of files fails as a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 100;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  {
    EventWriter writer(folder.path(), "x");
    for (int i = 0; i < 10; ++i) writer.scalar("a", 1, i, 1);
    const std::string start = (folder.path() / "x").string() + ": cannot be written (";
    EXPECT_EQ(user_error([&] { writer.flush(); }).rfind(start, 0), 0U);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "x"), 100U);
}

}  // namespace
}  // namespace regroup
