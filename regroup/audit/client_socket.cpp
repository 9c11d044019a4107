#include "regroup/audit/client_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

/// Whether others wait is looked at so often.
constexpr std::chrono::milliseconds look_around{100};

}  // namespace

ClientSocket::ClientSocket(int socket, int stop, const ClientLimits& limits, std::function<bool()> is_pressed)
    : socket_(socket), stop_(stop), limits_(limits), is_pressed_(std::move(is_pressed)) {
  std::ignore = fcntl(socket_, F_SETFD, FD_CLOEXEC);
  std::ignore = fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  // Headers and body are written apart; the second would wait for the first to be acknowledged.
  const int yes = 1;
  std::ignore = setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

ClientSocket::~ClientSocket() { close(socket_); }

ClientSocket::Deadline ClientSocket::deadline(std::chrono::milliseconds patience, std::chrono::milliseconds pressed) {
  const Clock::time_point now = Clock::now();
  return {now + patience, now + std::min(patience, pressed)};
}

/// Until the socket is ready; false where it is too late.
bool ClientSocket::wait(short events, const Deadline& deadline) const {
  for (;;) {
    const Clock::time_point end = is_pressed_() ? deadline.pressed_until : deadline.until;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> polled{{{socket_, events, 0}, {stop_, POLLIN, 0}}};
    const int ready = poll(polled.data(), polled.size(), static_cast<int>(std::min(left, look_around).count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return polled[1].revents == 0;
  }
}

/// Appends what is there; nothing where the connection has ended.
std::optional<std::size_t> ClientSocket::read_more(std::size_t most) {
  std::array<char, 16'384> buffer;
  const ssize_t got = recv(socket_, buffer.data(), std::min(most, buffer.size()), 0);
  if (got > 0) {
    read_.append(buffer.data(), static_cast<std::size_t>(got));
    return static_cast<std::size_t>(got);
  }
  const bool may_come = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return may_come ? std::optional<std::size_t>(0) : std::nullopt;
}

ClientSocket::Head ClientSocket::read_head(std::string& head) {
  bool has_begun = !read_.empty();
  Deadline until = deadline(has_begun ? limits_.head : limits_.idle, limits_.pressed);
  for (;;) {
    const auto end = read_.find(head_end);
    if (std::min(end, read_.size()) > limits_.head_bytes) return Head::too_long;
    if (end != std::string::npos) {
      head = read_.substr(0, end + head_end.size());
      read_.erase(0, head.size());
      return Head::whole;
    }
    if (!wait(POLLIN, until)) return has_begun ? Head::slow : Head::gone;
    if (!read_more(limits_.head_bytes + head_end.size())) return Head::gone;
    if (!has_begun && !read_.empty()) {
      has_begun = true;
      until = deadline(limits_.head, limits_.pressed);
    }
  }
}

std::optional<std::string> ClientSocket::read_body(std::size_t bytes) {
  const Deadline until = deadline(limits_.body, limits_.body);
  while (read_.size() < bytes)
    if (!wait(POLLIN, until) || !read_more(bytes - read_.size())) return std::nullopt;
  std::string body = read_.substr(0, bytes);
  read_.erase(0, bytes);
  return body;
}

bool ClientSocket::write(std::string_view bytes) {
  const Deadline until = deadline(limits_.answer, limits_.answer);
  while (!bytes.empty()) {
    const ssize_t done = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, until)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void ClientSocket::finish() {
  constexpr std::chrono::milliseconds patience{500};
  constexpr std::size_t most = 1U << 23;
  if (shutdown(socket_, SHUT_WR) != 0) return;
  const Deadline until = deadline(patience, limits_.pressed);
  for (std::size_t bytes = 0; bytes < most && wait(POLLIN, until);) {
    const auto more = read_more(most);
    if (!more) return;
    bytes += *more;
    read_.clear();
  }
}

std::string kept_headers(std::string_view head, std::initializer_list<std::string_view> names) {
  const auto request_line = std::min(head.find('\n'), head.size() - 1) + 1;
  std::string kept(head.substr(0, request_line));
  for (std::string_view rest = head.substr(request_line); !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !line.ends_with("\r\n")) continue;
    if (std::ranges::find(names, lowercase(line.substr(0, colon))) != names.end()) kept += line;
  }
  return kept + "\r\n";
}

}  // namespace regroup
