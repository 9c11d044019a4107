// By cpp-httplib, of which version 0.11 trusts its clients: it reads lines of any length, waits for each byte anew, and
// has parsers for headers that nothing here needs. So it gets whole heads of bounded length with the headers that we
// look at and no others, and neither routes nor reads bodies.
#include "regroup/audit/review_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "regroup/audit/worker_threads.h"
#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr const char* host = "127.0.0.1";
constexpr int backlog = 128;
constexpr std::size_t requests_of_a_connection = 1000;

/// Connections that wait for a thread; more are closed at once.
constexpr std::size_t max_waiting = 256;

std::string random_token() {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const std::uint8_t byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string checked_token(const std::string& token) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (!std::ranges::all_of(token, is_plain))
    throw UserError(fmt::format("token '{}': only letters and digits can stand in the address", shown(token)));
  return token.empty() ? random_token() : token;
}

/// Connections for threads to serve. `on_pause` is called often by the thread that accepts them.
class Connections : public httplib::TaskQueue {
 public:
  Connections(int threads, std::function<void()> on_pause)
      : on_pause_(std::move(on_pause)), workers_(threads, max_waiting) {}

  /// Whether the connection that this thread is to serve is one too many.
  static bool is_one_too_many() { return one_too_many; }

  std::size_t waiting() const { return workers_.waiting(); }

  void enqueue(std::function<void()> serve) override {
    if (!workers_.add(serve)) {
      one_too_many = true;
      serve();
      one_too_many = false;
    }
    on_pause_();
  }
  void shutdown() override { workers_.finish(); }
  void on_idle() override { on_pause_(); }

 private:
  inline static thread_local bool one_too_many = false;

  std::function<void()> on_pause_;
  WorkerThreads workers_;
};

/// A client whose request has been read up to its body, as the library reads it.
class RequestStream : public httplib::Stream {
 public:
  RequestStream(ClientSocket& client, std::string head) : client_(client), head_(std::move(head)) {}

  bool is_readable() const override { return read_ < head_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, std::size_t most) override {
    const std::size_t count = head_.copy(bytes, most, read_);
    read_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, std::size_t count) override {
    return client_.write({bytes, count}) ? static_cast<ssize_t>(count) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return client_.descriptor(); }

 private:
  ClientSocket& client_;
  std::string head_;
  std::size_t read_ = 0;
};

struct ClientIsGone {};

ReviewRequest review_request(const httplib::Request& request) {
  return {request.method, request.target, {request.headers.begin(), request.headers.end()}, request.body};
}

void send_answer(const ReviewAnswer& answer, httplib::Response& response) {
  // The library copies what it is given as one text.
  constexpr std::size_t large = 1U << 16;
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (!answer.body || answer.body->empty()) return;
  if (answer.body->size() < large) {
    response.set_content(*answer.body, answer.type);
  } else {
    response.set_content_provider(answer.body->size(), answer.type,
                                  [body = answer.body](std::size_t at, std::size_t count, httplib::DataSink& sink) {
                                    return sink.write(body->data() + at, count);
                                  });
  }
}

}  // namespace

class ReviewServer::Http : public httplib::Server {
 public:
  explicit Http(const ReviewServerOptions& options)
      : limits_(options.limits), stop_signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (stop_signal_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    constexpr int pause_us = 50'000;
    set_idle_interval(0, pause_us);
    set_address_family(AF_INET);
    // What its answers say about a connection; we keep to it ourselves.
    set_keep_alive_timeout(std::chrono::floor<std::chrono::seconds>(limits_.idle).count());
    set_keep_alive_max_count(requests_of_a_connection);
    // Not SO_REUSEPORT, the library's own choice, by which two programs share a port.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      std::ignore = setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      std::ignore = fcntl(socket, F_SETFL, O_NONBLOCK);
    });
    new_task_queue = [this, threads = options.threads] {
      auto* const connections = new Connections(threads, [this] {
        // Only this thread may stop the library: it looks at its socket without asking whether it is still open.
        if (is_stopping_) httplib::Server::stop();
      });
      connections_ = connections;
      return connections;
    };
    port_ = options.port == 0                                          ? bind_to_any_port(host)
            : options.port < 65536 && bind_to_port(host, options.port) ? options.port
                                                                       : -1;
    if (port_ <= 0 || ::listen(svr_sock_, backlog) != 0) {
      close_all();
      throw UserError(fmt::format("port {} of {} cannot be listened on; choose another one, or 0 for any that is free",
                                  options.port, host));
    }
  }
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  ~Http() override { close_all(); }

  int port() const { return port_; }

  void serve(ReviewSite& site) {
    site_ = &site;
    set_pre_routing_handler([&site](const httplib::Request& request, httplib::Response& response) {
      send_answer(site.answer(review_request(request)), response);
      return HandlerResponse::Handled;
    });
    // What the library itself refuses has no headers yet.
    set_error_handler([&site](const httplib::Request&, httplib::Response& response) {
      if (!response.has_header("Cache-Control"))
        send_answer(site.sentence(response.status, "this is no request of a browser"), response);
    });
    if (is_stopping_) close_listener();
    if (is_stopping_ || listen_after_bind()) return;
    svr_sock_ = INVALID_SOCKET;
    throw std::runtime_error("the review page can no longer be served: no connections are accepted");
  }

  void end() noexcept {
    is_stopping_ = true;
    const std::uint64_t one = 1;
    std::ignore = ::write(stop_signal_, &one, sizeof one);
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    ClientSocket client(socket, stop_signal_, limits_, [this] { return connections_.load()->waiting() > 0; });
    if (Connections::is_one_too_many()) return false;
    try {
      for (std::size_t left = requests_of_a_connection; left > 0 && serve_one(client, left == 1);) --left;
    } catch (const ClientIsGone&) {
      return false;
    } catch (const std::exception&) {
      // Whatever it is, it is about this client; the others are served.
      return false;
    }
    return true;
  }

  /// False where the connection is to be closed.
  bool serve_one(ClientSocket& client, bool is_last) {
    std::string head;
    const ClientSocket::Head outcome = client.read_head(head);
    if (outcome == ClientSocket::Head::gone) return false;
    if (outcome != ClientSocket::Head::whole) {
      client.write(outcome == ClientSocket::Head::slow ? "HTTP/1.1 408 Request Timeout\r\n\r\n"
                                                       : "HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n");
      client.finish();
      return false;
    }
    RequestStream stream(client, kept_headers(head, {"host", "origin", "connection", "content-type", "content-length",
                                                     "transfer-encoding"}));
    bool is_understood = false, closes = false;
    const auto take_body = [&](httplib::Request& request) {
      is_understood = true;
      if (site_->refusal(review_request(request))) {
        // A body that is not read would be taken for the next request.
        request.headers.erase("Connection");
        request.set_header("Connection", "close");
        is_understood = false;
      } else if (request.method == "POST") {
        const auto bytes = whole_number(request.get_header_value("Content-Length"));
        auto body = client.read_body(static_cast<std::size_t>(bytes.value_or(0)));
        if (!body) throw ClientIsGone();
        request.body = std::move(*body);
      }
    };
    const bool is_sent = process_request(stream, is_last, closes, take_body);
    if (!is_sent) return false;
    if (is_understood && !closes && !is_last) return true;
    client.finish();
    return false;
  }

  void close_listener() {
    const socket_t socket = svr_sock_.exchange(INVALID_SOCKET);
    if (socket != INVALID_SOCKET) close(socket);
  }

  void close_all() {
    close_listener();
    close(stop_signal_);
  }

  ClientLimits limits_;
  int stop_signal_, port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<Connections*> connections_ = nullptr;
  ReviewSite* site_ = nullptr;
};

ReviewServer::ReviewServer(ReviewContent content, DecisionJournal& journal, const ReviewServerOptions& options) {
  const std::string token = checked_token(options.token);
  // The library lets the whole program ignore broken pipes, and not only its own sockets.
  struct sigaction before {};
  sigaction(SIGPIPE, nullptr, &before);
  http_ = std::make_unique<Http>(options);
  sigaction(SIGPIPE, &before, nullptr);
  site_ = std::make_unique<ReviewSite>(std::move(content), journal, http_->port(), token, options.cache_bytes);
  address_ = fmt::format("http://{}:{}/{}/", host, http_->port(), token);
}

ReviewServer::~ReviewServer() = default;

int ReviewServer::port() const { return http_->port(); }

std::string ReviewServer::address() const { return address_; }

void ReviewServer::run() { http_->serve(*site_); }

void ReviewServer::stop() noexcept { http_->end(); }

}  // namespace regroup
