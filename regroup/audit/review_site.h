#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/audit/decision_journal.h"
#include "regroup/audit/picture_cache.h"
#include "regroup/data/image.h"

namespace regroup {

/// What is served. The functions are called by several threads at the same time.
struct ReviewContent {
  std::string page;       ///< HTML
  std::string policy;     ///< the Content-Security-Policy of every answer
  std::string data_json;  ///< what the page shows
  std::size_t samples = 0;
  int classes = 0;

  /// The picture of a sample, upright, no side longer than told. Nothing where it has none; UserError where it cannot
  /// be read.
  std::function<std::optional<Image>(std::uint32_t sample, int longest_side)> picture;

  /// After each batch of decisions that was kept. May be empty.
  std::function<void()> decided;
};

/// A request as it came: nothing in it is checked or decoded.
struct ReviewRequest {
  std::string method;
  std::string target;                                        ///< path and query
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in any case
  std::string body;
};

struct ReviewAnswer {
  int status = 200;
  std::string type;  ///< of the body
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> body;
};

/// What a request gets for an answer: everything about the server but its sockets. `answer` may be called by several
/// threads at the same time.
///
/// Only who knows the token is answered, in whatever browser, and only under the names of this machine itself, so that
/// a page from elsewhere that has its own name lead here (DNS rebinding) gets nothing. Only our own page may write. No
/// request names a file: pictures are asked for by number, and what is sent was encoded here.
class ReviewSite {
 public:
  static constexpr std::size_t max_body_bytes = 2'000'000;
  static constexpr int thumb_side = 256;
  static constexpr int image_side = 4096;

  /// `journal` must outlive the site. `port` is the one that browsers come to.
  ReviewSite(ReviewContent content, DecisionJournal& journal, int port, std::string token, std::size_t cache_bytes);

  /// Why a request is not answered, by all but its body: that need not be read then.
  std::optional<ReviewAnswer> refusal(const ReviewRequest& request) const;

  /// Never throws.
  ReviewAnswer answer(const ReviewRequest& request) noexcept;

  /// An answer of one sentence.
  ReviewAnswer sentence(int status, const std::string& text) const;

 private:
  bool is_here(std::string_view host) const;
  std::optional<ReviewAnswer> refusal_of_body(const ReviewRequest& request) const;
  ReviewAnswer route(const ReviewRequest& request);
  ReviewAnswer picture(std::string_view number, bool is_thumb);
  PictureCache::File make_picture(std::uint32_t sample, bool is_thumb);
  ReviewAnswer read_decisions(std::string_view query) const;
  ReviewAnswer write_decisions(const std::string& body);
  ReviewAnswer make_answer(int status, std::string_view type, std::shared_ptr<const std::string> body,
                           std::string_view caching = "no-store") const;

  ReviewContent content_;
  std::shared_ptr<const std::string> page_, data_;
  DecisionJournal& journal_;
  std::string port_, token_;
  PictureCache thumbs_;
  std::counting_semaphore<> makers_;  ///< decoding a large picture takes memory: not too many at the same time
};

/// Compares in a time that does not tell how much of it is right.
bool is_same_secret(std::string_view secret, std::string_view guess);

}  // namespace regroup
