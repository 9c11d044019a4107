#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "regroup/audit/client_socket.h"
#include "regroup/audit/review_site.h"

namespace regroup {

struct ReviewServerOptions {
  int port = 0;                          ///< 0: a free one
  std::string token;                     ///< in the address, letters and digits; empty: a random one of 128 bits
  std::size_t cache_bytes = 64'000'000;  ///< of thumbnails that are kept
  int threads = 16;                      ///< requests that are answered at the same time
  ClientLimits limits;
};

/// Serves the review page to browsers on this machine (127.0.0.1), and keeps what is decided there (review_site.h).
class ReviewServer {
 public:
  /// From here on browsers may connect; they are answered once run() is called. `journal` must outlive the server.
  /// Throws UserError where the port is not free.
  ReviewServer(ReviewContent content, DecisionJournal& journal, const ReviewServerOptions& options = {});
  ReviewServer(const ReviewServer&) = delete;
  ReviewServer& operator=(const ReviewServer&) = delete;
  ~ReviewServer();

  int port() const;

  /// What to open: http://127.0.0.1:PORT/TOKEN/
  std::string address() const;

  /// Answers until stop() is called, whenever that was. To be called once.
  void run();

  /// Ends run(), soon. Any thread and any signal handler may call it.
  void stop() noexcept;

 private:
  class Http;
  std::unique_ptr<Http> http_;
  std::unique_ptr<ReviewSite> site_;
  std::string address_;
};

}  // namespace regroup
