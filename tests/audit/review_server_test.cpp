#include "regroup/audit/review_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "audit/review_testing.h"
#include "support/user_error.h"

namespace regroup {
namespace {

using namespace std::chrono_literals;

/// A connection on which anything can be sent.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    is_connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(socket_); }

  bool is_connected() const { return is_connected_; }

  /// False where the other side has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// What comes until the other side closes, or until `enough` has come; "hangs" where nothing comes any more.
  std::string receive(const std::string& enough = "") const {
    std::string text;
    while (enough.empty() || text.find(enough) == std::string::npos) {
      pollfd polled{socket_, POLLIN, 0};
      if (::poll(&polled, 1, 5000) != 1) return text + "hangs";
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int socket_;
  bool is_connected_ = false;
};

/// A server that runs while this lives.
class RunningServer {
 public:
  explicit RunningServer(MadeReview& review, const ReviewServerOptions& options = {})
      : RunningServer(review.content(), review, options) {}
  RunningServer(ReviewContent content, MadeReview& review, const ReviewServerOptions& options)
      : server_(std::move(content), review.journal, options), thread_([this] { server_.run(); }) {}
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    server_.stop();
    thread_.join();
  }

  int port() const { return server_.port(); }
  std::string host() const { return "127.0.0.1:" + std::to_string(port()); }
  std::string path() const { return server_.address().substr(std::string("http://").size() + host().size()); }

  httplib::Client client() const { return httplib::Client("127.0.0.1", port()); }

  /// What comes for the text of a request, up to the end of the connection.
  std::string reply(const std::string& request) const {
    const RawClient raw(port());
    raw.send(request);
    return raw.receive();
  }

  std::string get_request(const std::string& path_below, const std::string& headers = "") const {
    return "GET " + path() + path_below + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers + "\r\n";
  }

  std::string post_request(const std::string& body, const std::string& headers = "") const {
    return "POST " + path() + "decisions HTTP/1.1\r\nHost: " + host() + "\r\nOrigin: http://" + host() +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
           "\r\n" + body;
  }

  httplib::Result post(httplib::Client& client, const std::string& decisions) const {
    return client.Post(path() + "decisions", {{"Origin", "http://" + host()}}, batch_json(decisions),
                       "application/json");
  }

 private:
  ReviewServer server_;
  std::thread thread_;
};

constexpr const char* close_header = "Connection: close\r\n";

TEST(ReviewServer, HasAnAddressThatNobodyGuesses) {
  MadeReview review;
  const ReviewServer first(review.content(), review.journal), second(review.content(), review.journal);
  const std::string start = "http://127.0.0.1:" + std::to_string(first.port()) + "/";
  ASSERT_TRUE(first.address().starts_with(start));
  const std::string token = first.address().substr(start.size());
  EXPECT_EQ(token.size(), 33U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), 32U) << token;
  EXPECT_FALSE(second.address().ends_with(token));
  EXPECT_NE(first.port(), second.port());
}

TEST(ReviewServer, TakesAPortAndATokenThatAreGiven) {
  MadeReview review;
  ReviewServerOptions options;
  options.token = test_token;
  int port = 0;
  {
    const RunningServer server(review, options);
    port = server.port();
    EXPECT_EQ(server.path(), "/" + test_token + "/");
    options.port = port;
    EXPECT_EQ(user_error([&] { const ReviewServer second(review.content(), review.journal, options); }),
              "port " + std::to_string(port) +
                  " of 127.0.0.1 cannot be listened on; choose another one, or 0 for any that is free");
  }
  // At once, although connections to it may not have ended yet.
  EXPECT_EQ(ReviewServer(review.content(), review.journal, options).port(), port);
  for (const int wrong : {-1, 65536, 1 << 20}) {
    options.port = wrong;
    EXPECT_THROW(ReviewServer(review.content(), review.journal, options), UserError) << wrong;
  }
  options = {};
  options.token = "a/b";
  EXPECT_EQ(user_error([&] { const ReviewServer server(review.content(), review.journal, options); }),
            "token 'a/b': only letters and digits can stand in the address");
}

TEST(ReviewServer, ServesABrowser) {
  MadeReview review;
  ReviewContent content = review.content();
  content.data_json = std::string(5'000'000, ' ') + "{}";
  const RunningServer server(content, review, {});
  httplib::Client client = server.client();
  client.set_keep_alive(true);
  const auto page = client.Get(server.path());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "<!doctype html><p>page</p>");
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page->get_header_value_count("Content-Type"), 1U);
  EXPECT_EQ(page->get_header_value("Content-Security-Policy"), "default-src 'none'");
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(client.Get(server.path() + "data.json")->body, content.data_json);
  const auto head = client.Head(server.path() + "data.json");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->get_header_value("Content-Length"), "5000002");
  EXPECT_TRUE(head->body.empty());
  const auto thumb = client.Get(server.path() + "thumb/2");
  EXPECT_EQ(thumb->get_header_value("Content-Type"), "image/jpeg");
  EXPECT_EQ(size_of_jpeg(thumb->body), (ImageSize{256, 256}));
  EXPECT_EQ(client.Get(server.path() + "thumb/4")->status, 404);
  EXPECT_EQ(client.Get(server.path().substr(0, 33))->get_header_value("Location"), server.path());
  for (const auto& result : {client.Put(server.path()), client.Delete(server.path()), client.Options(server.path())})
    EXPECT_EQ(result->status, 405);
  EXPECT_EQ(client.Get("/")->status, 403);
}

// A part of an answer, and an answer that is packed, are parsers and work that nobody here asks for.
TEST(ReviewServer, IgnoresHeadersThatItHasNoUseFor) {
  MadeReview review;
  const RunningServer server(review);
  std::string ranges = "Range: bytes=0-0";
  while (ranges.size() < 8000) ranges += ",0-0";
  for (const std::string& header :
       {ranges, "Range: bytes=" + std::string(8000, '1') + "-", std::string("Range: nonsense"),
        std::string("Accept-Encoding: gzip, br"), std::string("Expect: 100-continue"),
        std::string("X-Forwarded-Host: evil.example")}) {
    const std::string reply = server.reply(server.get_request("data.json", header + "\r\n" + close_header));
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n")) << reply;
    EXPECT_TRUE(reply.ends_with("\r\n\r\n{\"version\":1}")) << reply;
  }
}

TEST(ReviewServer, ForeignHostOriginAndTokenAreRefused) {
  MadeReview review;
  const RunningServer server(review);
  const auto status = [&](const std::string& request) { return server.reply(request).substr(0, 12); };
  const std::string body = batch_json(R"({"id":1,"decision":"none"})"), good = server.post_request(body, close_header);
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string request = good;
    return request.replace(request.find(old), old.size(), other);
  };
  EXPECT_EQ(status(with("Host: " + server.host(), "Host: evil.example")), "HTTP/1.1 403");
  EXPECT_EQ(status(with("Origin: http://" + server.host(), "Origin: http://evil.example")), "HTTP/1.1 403");
  EXPECT_EQ(status(with("Origin: http://" + server.host() + "\r\n", "")), "HTTP/1.1 403");
  EXPECT_EQ(status(with("Origin: http://" + server.host(), "Origin: null")), "HTTP/1.1 403");
  EXPECT_EQ(status(with(server.path(), "/" + test_token + "/")), "HTTP/1.1 403");
  EXPECT_EQ(status(with(server.path(), "/")), "HTTP/1.1 403");
  EXPECT_EQ(status(with("application/json", "text/plain")), "HTTP/1.1 415");
  EXPECT_EQ(review.journal.last(), 0U);
  EXPECT_EQ(status(good), "HTTP/1.1 200");
  EXPECT_EQ(review.journal.last(), 1U);
}

TEST(ReviewServer, BrokenRequestsDoNotHarmIt) {
  MadeReview review;
  const RunningServer server(review);
  const std::string host = "Host: " + server.host() + "\r\n";
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("\0\0\0\0\r\n\r\n", 8),
        "GET " + server.path() + "\r\n" + host + "\r\n", "GET " + server.path() + " HTTP/9.9\r\n" + host + "\r\n",
        "FETCH " + server.path() + " HTTP/1.1\r\n" + host + "\r\n",
        "GET " + server.path() + " HTTP/1.1 x\r\n" + host + "\r\n",
        "GET " + server.path() + "?a?b HTTP/1.1\r\n" + host + "\r\n",
        std::string("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n", 15),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"}) {
    const std::string reply = server.reply(request);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 4")) << request << reply;
    EXPECT_EQ(reply.find("hangs"), std::string::npos) << request << reply;
  }
  // Header lines that are none are not looked at.
  for (const std::string line :
       {"no colon", ": no name", "Origin : http://evil.example", " folded: x", "Host\t: x", "\0:\0"}) {
    const std::string reply = server.reply(server.get_request("", line + "\r\n" + close_header));
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << line << reply;
  }
  EXPECT_TRUE(server.reply("GET " + server.path() + " HTTP/1.1\n" + host + "\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(server.client().Get(server.path()));
}

TEST(ReviewServer, WhatIsTooLargeIsRefused) {
  MadeReview review;
  const RunningServer server(review);
  const std::string line(1000, 'x');
  std::string many;
  for (int i = 0; i < 17; ++i) many += "X-" + std::to_string(i) + ": " + line + "\r\n";
  EXPECT_TRUE(server.reply(server.get_request("", many)).starts_with("HTTP/1.1 431"));
  {
    // A request line without an end is not read to its end.
    const RawClient endless(server.port());
    bool is_open = endless.send("GET /");
    for (int i = 0; i < 20'000 && is_open; ++i) is_open = endless.send(line);
    EXPECT_FALSE(is_open);
  }
  const std::string body = batch_json(std::string(ReviewSite::max_body_bytes, ' '));
  EXPECT_TRUE(server.reply(server.post_request(body)).starts_with("HTTP/1.1 413"));
  EXPECT_TRUE(server
                  .reply("POST " + server.path() + "decisions HTTP/1.1\r\nHost: " + server.host() +
                         "\r\nOrigin: http://" + server.host() +
                         "\r\nContent-Type: application/json\r\nContent-Length: 18446744073709551615\r\n\r\n")
                  .starts_with("HTTP/1.1 413"));
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_TRUE(server.reply(server.post_request("0\r\n\r\n", chunked)).starts_with("HTTP/1.1 411"));
  EXPECT_EQ(review.journal.last(), 0U);
}

// Otherwise, a body that was not read could hold a request that a guard in between has not seen.
TEST(ReviewServer, ABodyIsNeverTheNextRequest) {
  MadeReview review;
  const RunningServer server(review);
  const std::string inner = server.get_request("data.json");
  for (const std::string& headers :
       {"Content-Length: " + std::to_string(inner.size()) + "\r\n", std::string("Transfer-Encoding: chunked\r\n"),
        std::string("Content-Length: 0\r\nContent-Length: 5\r\n")}) {
    const std::string reply = server.reply(server.get_request("", headers) + inner);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 4")) << reply;
    EXPECT_EQ(reply.find("version"), std::string::npos) << reply;
  }
  // Requests that are sent without waiting for answers are answered in their order.
  const std::string reply =
      server.reply(server.post_request(batch_json(R"({"id":1,"decision":"none"})")) +
                   server.get_request("decisions?after=0") + server.get_request("data.json", close_header));
  const auto kept = reply.find("{\"seq\":1}"),
             told = reply.find(R"({"seq":1,"decisions":[{"id":1,"decision":"none"}]})"),
             data = reply.find("{\"version\":1}");
  EXPECT_LT(kept, told) << reply;
  EXPECT_LT(told, data) << reply;
  EXPECT_NE(data, std::string::npos) << reply;
}

TEST(ReviewServer, SlowClientsDoNotBlockOthers) {
  MadeReview review;
  ReviewServerOptions options;
  options.threads = 2;
  options.limits.pressed = 50ms;
  const RunningServer server(review, options);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(std::make_unique<RawClient>(server.port()));
    slow.back()->send(i % 3 == 0 ? "" : i % 3 == 1 ? "GET / HT" : server.get_request("").substr(0, 40));
  }
  httplib::Client client = server.client();
  client.set_read_timeout(4s);
  const auto page = client.Get(server.path());
  ASSERT_TRUE(page) << "there are more slow ones than threads";
  EXPECT_EQ(page->status, 200);
}

TEST(ReviewServer, SlowClientsAreGivenUp) {
  MadeReview review;
  ReviewServerOptions options;
  options.limits.head = options.limits.body = options.limits.idle = 60ms;
  const RunningServer server(review, options);
  EXPECT_EQ(server.reply(""), "");
  EXPECT_EQ(server.reply("GET / HTTP/1.1\r\nHost"), "HTTP/1.1 408 Request Timeout\r\n\r\n");
  const std::string request = server.post_request(batch_json(R"({"id":1,"decision":"none"})"));
  EXPECT_EQ(server.reply(request.substr(0, request.size() - 1)), "");
  EXPECT_EQ(review.journal.last(), 0U);
  // Byte by byte does not make it longer.
  const RawClient dribbling(server.port());
  bool is_open = true;
  for (int i = 0; i < 200 && is_open; ++i) {
    is_open = dribbling.send("x");
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_FALSE(is_open);
}

TEST(ReviewServer, AClientThatTakesNoAnswerIsGivenUp) {
  MadeReview review;
  ReviewContent content = review.content();
  content.data_json.resize(20'000'000, ' ');
  ReviewServerOptions options;
  options.threads = 1;
  options.limits.answer = 60ms;
  const RunningServer server(content, review, options);
  const RawClient silent(server.port());
  silent.send(server.get_request("data.json"));
  httplib::Client client = server.client();
  EXPECT_EQ(client.Get(server.path())->status, 200);
}

TEST(ReviewServer, TwoWindowsSeeEachOthersDecisions) {
  MadeReview review;
  const RunningServer server(review);
  httplib::Client left = server.client(), right = server.client();
  for (httplib::Client* client : {&left, &right}) client->set_keep_alive(true);
  EXPECT_EQ(server.post(left, R"({"id":1,"decision":"label","label":2})")->body, R"({"seq":1})");
  EXPECT_EQ(right.Get(server.path() + "decisions?after=0")->body,
            R"({"seq":1,"decisions":[{"id":1,"decision":"label","label":2}]})");
  EXPECT_EQ(server.post(right, R"({"id":1,"decision":"clear"},{"id":2,"decision":"none"})")->body, R"({"seq":3})");
  EXPECT_EQ(left.Get(server.path() + "decisions?after=1")->body,
            R"({"seq":3,"decisions":[{"id":1,"decision":"clear"},{"id":2,"decision":"none"}]})");
  EXPECT_EQ(review.batches, 2);
}

TEST(ReviewServerThreads, ManyClientsAtTheSameTime) {
  MadeReview review;
  ReviewServerOptions options;
  options.threads = 4;
  options.cache_bytes = 100'000;
  const RunningServer server(review, options);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&, thread] {
      httplib::Client client = server.client();
      client.set_keep_alive(thread % 2 == 0);
      for (int i = 0; i < 8; ++i) {
        const auto thumb = client.Get(server.path() + "thumb/" + std::to_string((thread + i) % 3));
        ASSERT_TRUE(thumb);
        EXPECT_EQ(thumb->status, 200);
        const auto kept = server.post(client, R"({"id":1,"decision":"none"},{"id":2,"decision":"clear"})");
        ASSERT_TRUE(kept);
        const auto last = nlohmann::json::parse(kept->body)["seq"].get<int>();
        EXPECT_EQ(last % 2, 0) << "batches are not mixed";
        const auto told = client.Get(server.path() + "decisions?after=" + std::to_string(last - 2));
        EXPECT_EQ(nlohmann::json::parse(told->body)["decisions"][0]["id"], 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(review.journal.last(), 96U);
  EXPECT_EQ(review.batches, 48);
}

TEST(ReviewServerThreads, StopEndsIt) {
  MadeReview review;
  for (const bool before : {true, false}) {
    ReviewServer server(review.content(), review.journal);
    if (before) server.stop();
    std::thread thread([&] { server.run(); });
    const RawClient idle(server.port()), half(server.port());
    half.send("GET / HT");
    if (!before) {
      EXPECT_EQ(httplib::Client("127.0.0.1", server.port()).Get("/")->status, 403);
      server.stop();
    }
    const auto start = std::chrono::steady_clock::now();
    thread.join();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s) << "idle connections are not waited for";
    EXPECT_FALSE(RawClient(server.port()).is_connected()) << "nobody listens any more";
  }
}

TEST(ReviewServer, LeavesTheSignalsOfTheProgramAlone) {
  MadeReview review;
  const auto before = ::signal(SIGPIPE, SIG_DFL);
  const ReviewServer server(review.content(), review.journal);
  EXPECT_EQ(::signal(SIGPIPE, before), SIG_DFL);
}

}  // namespace
}  // namespace regroup
