#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace regroup {

/// How long is waited for a client, and for how much.
struct ClientLimits {
  std::chrono::milliseconds idle{15'000};    ///< for the next request of a connection
  std::chrono::milliseconds head{10'000};    ///< from the first byte of a request to the end of its headers
  std::chrono::milliseconds body{20'000};    ///< for a whole body
  std::chrono::milliseconds answer{60'000};  ///< for a whole answer to be taken
  std::chrono::milliseconds pressed{1'000};  ///< for each of the first two where others wait to be served
  std::size_t head_bytes = 16'384;
};

/// A connection to one client, which may be slow, silent or hostile: every wait has an end, and ends at once when
/// `stop` becomes readable. Takes the socket over.
class ClientSocket {
 public:
  /// `is_pressed` tells whether others wait to be served.
  ClientSocket(int socket, int stop, const ClientLimits& limits, std::function<bool()> is_pressed);
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;
  ~ClientSocket();

  enum class Head { whole, gone, slow, too_long };

  /// Reads a request up to the blank line behind its headers, into `head`.
  Head read_head(std::string& head);

  /// The bytes that follow; nothing where they do not come.
  std::optional<std::string> read_body(std::size_t bytes);

  /// All of them, or false.
  bool write(std::string_view bytes);

  /// Ends a connection on which something may have been sent that was not read: what was answered would be lost to the
  /// client otherwise.
  void finish();

  int descriptor() const { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// When a wait ends, also where others wait to be served.
  struct Deadline {
    Clock::time_point until, pressed_until;
  };

  static Deadline deadline(std::chrono::milliseconds patience, std::chrono::milliseconds pressed);
  bool wait(short events, const Deadline& deadline) const;
  std::optional<std::size_t> read_more(std::size_t most);

  int socket_, stop_;
  ClientLimits limits_;
  std::function<bool()> is_pressed_;
  std::string read_;  ///< what has come and was not asked for yet
};

/// A request's head with those header lines only whose names (in small letters) are in `names`: what we do not look at
/// is not handed on either. Lines that do not end in \r\n are no header lines.
std::string kept_headers(std::string_view head, std::initializer_list<std::string_view> names);

}  // namespace regroup
