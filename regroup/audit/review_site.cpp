#include "regroup/audit/review_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <new>

#include "regroup/audit/decision_json.h"
#include "regroup/audit/jpeg_encode.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/printable.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr int jpeg_quality = 90;
constexpr std::string_view private_cache = "private, max-age=3600";

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// Digits and nothing else.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::vector<std::string_view> values_of(const ReviewRequest& request, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [header, value] : request.headers)
    if (lowercase(header) == name) values.emplace_back(value);
  return values;
}

bool is_json(std::string_view content_type) {
  return lowercase(trimmed(content_type.substr(0, content_type.find(';')))) == "application/json";
}

/// Takes the beginning away, if it is there.
bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

/// The path below the token, and what stands behind its question mark.
struct Place {
  std::string_view path, query;
};

Place place_of(const ReviewRequest& request, const std::string& token) {
  const std::string_view below = std::string_view(request.target).substr(token.size() + 2);
  const auto question = below.find('?');
  return {below.substr(0, question), question == std::string_view::npos ? "" : below.substr(question + 1)};
}

}  // namespace

bool is_same_secret(std::string_view secret, std::string_view guess) {
  volatile unsigned difference = secret.size() == guess.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < guess.size() ? guess[i] : '\0';
    difference = difference | static_cast<unsigned>(static_cast<unsigned char>(secret[i] ^ other));
  }
  return difference == 0;
}

ReviewSite::ReviewSite(ReviewContent content, DecisionJournal& journal, int port, std::string token,
                       std::size_t cache_bytes)
    : content_(std::move(content)),
      page_(shared(std::move(content_.page))),
      data_(shared(std::move(content_.data_json))),
      journal_(journal),
      port_(std::to_string(port)),
      token_(std::move(token)),
      thumbs_(cache_bytes),
      makers_(hardware_threads()) {}

ReviewAnswer ReviewSite::make_answer(int status, std::string_view type, std::shared_ptr<const std::string> body,
                                     std::string_view caching) const {
  return {status,
          std::string(type),
          {{"Cache-Control", std::string(caching)},
           {"Content-Security-Policy", content_.policy},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Referrer-Policy", "no-referrer"},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Accept-Ranges", "none"}},
          std::move(body)};
}

ReviewAnswer ReviewSite::sentence(int status, const std::string& text) const {
  return make_answer(status, "text/plain; charset=utf-8", shared(printable(text) + "\n"));
}

bool ReviewSite::is_here(std::string_view host) const {
  return take(host, "127.0.0.1:") || take(host, "localhost:") ? host == port_ : false;
}

std::optional<ReviewAnswer> ReviewSite::refusal(const ReviewRequest& request) const {
  const bool is_write = request.method == "POST";
  if (request.method != "GET" && request.method != "HEAD" && !is_write) {
    ReviewAnswer answer = sentence(405, "only GET, HEAD and POST are answered");
    answer.headers.emplace_back("Allow", "GET, HEAD, POST");
    return answer;
  }
  const auto hosts = values_of(request, "host");
  if (hosts.size() != 1 || !is_here(lowercase(hosts.front())))
    return sentence(403, "this server answers under the address 127.0.0.1 only; open the one that the program shows");
  if (!request.target.starts_with('/')) return sentence(400, "the request has no path");
  const std::string_view path = std::string_view(request.target).substr(1, request.target.find('?') - 1);
  if (!is_same_secret(token_, path.substr(0, path.find('/'))))
    return sentence(403, "the secret part of the address is missing or wrong; open the address that the program shows");

  const auto origins = values_of(request, "origin");
  const bool is_ours = std::ranges::all_of(
      origins, [this](std::string_view origin) { return take(origin, "http://") && is_here(origin); });
  if (!is_ours || origins.size() > 1 || (is_write && origins.empty()))
    return sentence(403, "another page than that of this server sent this");
  return refusal_of_body(request);
}

std::optional<ReviewAnswer> ReviewSite::refusal_of_body(const ReviewRequest& request) const {
  const auto lengths = values_of(request, "content-length");
  const bool is_write = request.method == "POST";
  const auto length = number_of(lengths.empty() ? "0" : lengths.front());
  const bool is_told = lengths.size() == 1 || (lengths.empty() && !is_write);
  if (!values_of(request, "transfer-encoding").empty() || !is_told || !length)
    return sentence(411, "the length of a body has to be told, once, in bytes");
  if (!is_write && *length > 0) return sentence(400, "only a POST has a body");
  if (!is_write) return std::nullopt;
  if (request.target.size() < token_.size() + 2 || place_of(request, token_).path != "decisions")
    return sentence(405, "nothing but decisions is taken");
  const auto types = values_of(request, "content-type");
  if (types.size() != 1 || !is_json(types.front())) return sentence(415, "send decisions as application/json");
  if (*length > max_body_bytes)
    return sentence(413, fmt::format("{} bytes at once; send at most {}", *length, max_body_bytes));
  return std::nullopt;
}

ReviewAnswer ReviewSite::answer(const ReviewRequest& request) noexcept {
  try {
    auto refused = refusal(request);
    return refused ? std::move(*refused) : route(request);
  } catch (const std::exception& error) {
    // No memory, most likely, which the next request may have again.
    return {500, {}, {{"Cache-Control", "no-store"}}, nullptr};
  }
}

ReviewAnswer ReviewSite::route(const ReviewRequest& request) {
  if (request.body.size() > max_body_bytes) return sentence(413, "the body is too large");
  if (request.target.size() < token_.size() + 2 || request.target[token_.size() + 1] != '/') {
    ReviewAnswer answer = sentence(308, "the address ends with a slash");
    answer.headers.emplace_back("Location", "/" + token_ + "/");
    return answer;
  }
  const Place place = place_of(request, token_);
  if (request.method == "POST") return write_decisions(request.body);
  if (place.path.empty()) return make_answer(200, "text/html; charset=utf-8", page_);
  if (place.path == "data.json") return make_answer(200, "application/json", data_);
  if (place.path == "decisions") return read_decisions(place.query);
  std::string_view number = place.path;
  if (take(number, "thumb/")) return picture(number, true);
  if (take(number, "image/")) return picture(number, false);
  return sentence(404, "there is nothing at this address");
}

ReviewAnswer ReviewSite::picture(std::string_view number, bool is_thumb) {
  const auto id = number_of(number);
  if (!id || *id >= content_.samples)
    return sentence(404, fmt::format("samples have numbers from 0 to below {}", content_.samples));
  const auto sample = static_cast<std::uint32_t>(*id);
  try {
    const auto make = [&] { return make_picture(sample, is_thumb); };
    const PictureCache::File file = is_thumb ? thumbs_.get(sample, make) : make();
    if (!file) return sentence(404, "this sample has no picture");
    return make_answer(200, "image/jpeg", file, private_cache);
  } catch (const UserError& error) {
    return sentence(404, error.what());
  } catch (const std::bad_alloc&) {
    return sentence(503, "there is not enough memory for this picture; try again later");
  } catch (const std::exception& error) {
    return sentence(500, fmt::format("this picture could not be shown: {}", error.what()));
  }
}

PictureCache::File ReviewSite::make_picture(std::uint32_t sample, bool is_thumb) {
  struct Place {
    std::counting_semaphore<>& all;
    explicit Place(std::counting_semaphore<>& semaphore) : all(semaphore) { all.acquire(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { all.release(); }
  };
  const Place place(makers_);
  const auto image = content_.picture(sample, is_thumb ? thumb_side : image_side);
  return image ? shared(encode_jpeg(*image, jpeg_quality)) : nullptr;
}

ReviewAnswer ReviewSite::read_decisions(std::string_view query) const {
  std::uint64_t after = 0;
  if (!query.empty()) {
    const auto number = take(query, "after=") ? number_of(query) : std::nullopt;
    if (!number) return sentence(400, "ask for decisions?after=N, N being a number");
    after = *number;
  }
  const DecisionJournal::Part part = journal_.since(after);
  if (after > part.last)
    return sentence(409, fmt::format("there are {} decisions, and not {}; load the page again", part.last, after));
  return make_answer(200, "application/json", shared(json_of_decisions(part.last, part.decisions)));
}

ReviewAnswer ReviewSite::write_decisions(const std::string& body) {
  std::vector<Decision> decisions;
  try {
    decisions = decisions_of_json(body, content_.samples, content_.classes);
  } catch (const UserError& error) {
    return sentence(400, error.what());
  }
  std::uint64_t last = 0;
  try {
    last = journal_.append(decisions);
  } catch (const UserError& error) {
    return sentence(507, error.what());
  }
  ReviewAnswer answer = make_answer(200, "application/json", shared(fmt::format("{{\"seq\":{}}}", last)));
  try {
    if (content_.decided && !decisions.empty()) content_.decided();
  } catch (const std::exception&) {
    // They are kept, whatever is wrong with what is made of them.
    return answer;
  }
  return answer;
}

}  // namespace regroup
