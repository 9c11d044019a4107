// Whatever a client sends, it gets an answer that gives nothing away: the page, data and pictures only for the token
// and our own host, decisions kept only from our own page and about what there is. The input is a head and a body as
// they come over the wire; PORT and TOKEN in it are ours.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "regroup/audit/client_socket.h"
#include "regroup/audit/review_site.h"
#include "regroup/io/text_file.h"

namespace {

constexpr int port = 8123;
const std::string token = "7ok3n";
const std::string secret = "only for who knows the token";

regroup::Audit make_audit() {
  regroup::Audit audit;
  audit.class_names = {"cat", "dog"};
  audit.parts = {"train"};
  audit.samples.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) audit.samples[i].index = i;
  return audit;
}

const regroup::Audit audit = make_audit();

regroup::ReviewContent make_content() {
  regroup::ReviewContent content;
  content.page = content.data_json = secret;
  content.policy = "default-src 'none'";
  content.samples = audit.samples.size();
  content.classes = 2;
  content.picture = [](std::uint32_t sample, int) -> std::optional<regroup::Image> {
    if (sample >= audit.samples.size()) std::abort();
    return sample == 0 ? std::nullopt : std::optional(regroup::Image{{1, 2}, std::vector<std::uint8_t>(6)});
  };
  return content;
}

/// The journal is in memory, where the system has a folder for that, and without a name as soon as it is open.
std::filesystem::path journal_file() {
  const std::filesystem::path memory = "/dev/shm";
  return (exists(memory) ? memory : std::filesystem::temp_directory_path()) /
         ("regroup-fuzz-" + std::to_string(getpid()));
}

struct Review {
  regroup::DecisionJournal journal{journal_file(), audit};
  regroup::ReviewSite site{make_content(), journal, port, token, 10'000};

  Review() { std::filesystem::remove(journal.file()); }
};

/// One that has not kept so many decisions yet that telling them all takes its time.
Review& fresh_review() {
  constexpr std::uint64_t many = 1000;
  static auto review = std::make_unique<Review>();
  if (review->journal.last() > many) review = std::make_unique<Review>();
  return *review;
}

std::string with_secrets(std::string text) {
  const auto replace = [&text](std::string_view what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  };
  replace("PORT", std::to_string(port));
  replace("TOKEN", token);
  return text;
}

/// As the server's library makes it of the bytes: what is between the blanks, and lines with a colon.
regroup::ReviewRequest request_of(std::string_view input) {
  const auto end = std::min(input.find("\r\n\r\n"), input.size());
  const std::string head =
      regroup::kept_headers(std::string(input.substr(0, end)) + "\r\n\r\n",
                            {"host", "origin", "content-type", "content-length", "transfer-encoding"});
  regroup::ReviewRequest request;
  request.body = end < input.size() ? input.substr(end + 4) : "";
  bool is_first = true;
  for (const std::string_view line : regroup::lines(head)) {
    const auto cut = line.find(is_first ? ' ' : ':');
    const std::string_view rest = cut == std::string_view::npos ? "" : line.substr(cut + 1);
    if (is_first) {
      request.method = line.substr(0, cut);
      request.target = rest.substr(0, rest.find(' '));
    } else if (cut != std::string_view::npos) {
      request.headers.emplace_back(line.substr(0, cut), regroup::trimmed(rest));
    }
    is_first = false;
  }
  return request;
}

bool has_header(const regroup::ReviewRequest& request, std::string_view name, std::string_view value) {
  for (const auto& [header, text] : request.headers)
    if (regroup::lowercase(header) == name && regroup::lowercase(text) == value) return true;
  return false;
}

void check(const regroup::ReviewRequest& request, const regroup::ReviewAnswer& answer, std::uint64_t kept) {
  const std::string host = "127.0.0.1:" + std::to_string(port), other = "localhost:" + std::to_string(port);
  const bool is_here = has_header(request, "host", host) || has_header(request, "host", other);
  const bool is_known = is_here && request.target.starts_with("/" + token);
  const bool is_sentence = answer.type.starts_with("text/plain");
  if (answer.status < 200 || answer.status > 599 || answer.headers.empty() || !answer.body) std::abort();
  for (const auto& [name, value] : answer.headers)
    if (value.find_first_of("\r\n") != std::string::npos) std::abort();
  if (is_sentence != (answer.status >= 300)) std::abort();
  if (!is_known && !is_sentence) std::abort();
  if (is_sentence && (answer.body->find(secret) != std::string::npos || !answer.body->ends_with('\n'))) std::abort();
  if (kept == 0) return;
  const bool is_ours =
      has_header(request, "origin", "http://" + host) || has_header(request, "origin", "http://" + other);
  if (!is_known || !is_ours || request.method != "POST" || answer.status != 200) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Review& review = fresh_review();
  const regroup::ReviewRequest request = request_of(with_secrets({reinterpret_cast<const char*>(data), size}));
  const std::uint64_t before = review.journal.last();
  const regroup::ReviewAnswer answer = review.site.answer(request);
  const auto kept = review.journal.since(before);
  check(request, answer, kept.last - before);
  for (const regroup::Decision& decision : kept.decisions)
    if (decision.sample >= audit.samples.size() || decision.label >= 2) std::abort();
  return 0;
}
