#include "regroup/io/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <utility>
#include <vector>

#include "regroup/core/error.h"

namespace regroup {
namespace {

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::filesystem::path& file) : name_(file.string()), in_(file, std::ios::binary) {
    if (!in_) throw UserError(fmt::format("{}: cannot be opened; does it exist, and may it be read?", name_));
  }

  std::size_t read(std::span<std::uint8_t> into) override {
    in_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (in_.bad()) throw UserError(fmt::format("{}: cannot be read; is it a file?", name_));
    return static_cast<std::size_t>(in_.gcount());
  }

 private:
  std::string name_;
  std::ifstream in_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::size_t read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::unique_ptr<ByteSource> packed, std::string name) : packed_(std::move(packed)), name_(std::move(name)) {
    fetch();
    is_gzip_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
    // 15: the largest window; 16: gzip's frame, whose checksum zlib verifies.
    if (is_gzip_ && inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;
  ~GzipBytes() override {
    if (is_gzip_) inflateEnd(&stream_);
  }

  std::size_t read(std::span<std::uint8_t> into) override {
    std::size_t done = 0;
    while (done < into.size() && (stream_.avail_in > 0 || fetch())) {
      done += is_gzip_ ? inflate_some(into.subspan(done)) : copy_some(into.subspan(done));
    }
    // The end of the input must be the end of a gzip member.
    if (done < into.size() && is_gzip_ && !member_ended_) fail("it ends in the middle");
    return done;
  }

 private:
  bool fetch() {
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(packed_->read(buffer_));
    return stream_.avail_in > 0;
  }

  std::size_t copy_some(std::span<std::uint8_t> into) {
    const std::size_t count = std::min<std::size_t>(into.size(), stream_.avail_in);
    std::copy_n(stream_.next_in, count, into.begin());
    stream_.next_in += count;
    stream_.avail_in -= static_cast<uInt>(count);
    return count;
  }

  std::size_t inflate_some(std::span<std::uint8_t> into) {
    // A gzip file may have several members; what follows one has to be another.
    if (std::exchange(member_ended_, false)) inflateReset(&stream_);
    stream_.next_out = into.data();
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1U << 30));
    const uInt room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END) fail(stream_.msg != nullptr ? stream_.msg : "unknown error");
    member_ended_ = status == Z_STREAM_END;
    return room - stream_.avail_out;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: damaged gzip file ({}); fetch it again", name_, what));
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(1U << 16);
  z_stream stream_{};
  bool is_gzip_ = false;
  bool member_ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file) {
  return unpack_gzip(std::make_unique<FileBytes>(file), file.string());
}

std::unique_ptr<ByteSource> memory_bytes(std::span<const std::uint8_t> bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed, std::string name) {
  return std::make_unique<GzipBytes>(std::move(packed), std::move(name));
}

}  // namespace regroup
