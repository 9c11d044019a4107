#include "regroup/audit/review_site.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "audit/full_disk.h"
#include "audit/review_testing.h"

namespace regroup {
namespace {

const std::string here = "127.0.0.1:" + std::to_string(test_port);

class ReviewSiteTest : public testing::Test {
 protected:
  ReviewAnswer ask(const std::string& target, const std::string& method = "GET") {
    return site_.answer({method, target, {{"Host", here}}, ""});
  }
  ReviewAnswer get(const std::string& path) { return ask("/" + test_token + "/" + path); }

  static ReviewRequest post_request(const std::string& body) {
    return {"POST",
            "/" + test_token + "/decisions",
            {{"Host", here},
             {"Origin", "http://" + here},
             {"Content-Type", "application/json"},
             {"Content-Length", std::to_string(body.size())}},
            body};
  }
  ReviewAnswer post(const std::string& decisions) { return site_.answer(post_request(batch_json(decisions))); }

  /// The status of an answer to a POST in which one header is another, or none where the value is empty.
  int status_with(const std::string& name, const std::string& value) {
    ReviewRequest request = post_request(batch_json(""));
    std::erase_if(request.headers, [&](const auto& header) { return header.first == name; });
    if (!value.empty()) request.headers.emplace_back(name, value);
    return site_.answer(request).status;
  }

  MadeReview review_;
  ReviewSite site_{review_.content(), review_.journal, test_port, test_token, 1'000'000};
};

std::string header_of(const ReviewAnswer& answer, const std::string& name) {
  std::string values;
  for (const auto& [header, value] : answer.headers) values += header == name ? value : "";
  return values;
}

TEST_F(ReviewSiteTest, ServesThePageAndItsData) {
  const ReviewAnswer page = get("");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_EQ(*page.body, "<!doctype html><p>page</p>");
  EXPECT_EQ(*get("?show=none").body, *page.body);
  EXPECT_EQ(get("data.json").type, "application/json");
  EXPECT_EQ(*get("data.json").body, R"({"version":1})");
  const ReviewAnswer without_slash = ask("/" + test_token);
  EXPECT_EQ(without_slash.status, 308);
  EXPECT_EQ(header_of(without_slash, "Location"), "/" + test_token + "/");
}

TEST_F(ReviewSiteTest, EveryAnswerIsGuarded) {
  for (const ReviewAnswer& answer : {get(""), get("data.json"), get("thumb/0"), get("thumb/4"), get("decisions"),
                                     get("nothing"), ask("/"), ask("/", "PUT"), post(""), post("x")}) {
    EXPECT_EQ(header_of(answer, "Content-Security-Policy"), "default-src 'none'");
    EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(answer, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header_of(answer, "Cache-Control"), answer.type == "image/jpeg" ? "private, max-age=3600" : "no-store");
    EXPECT_TRUE(header_of(answer, "Access-Control-Allow-Origin").empty());
    if (answer.status >= 300) {
      EXPECT_EQ(std::ranges::count(*answer.body, '\n'), 1) << "one sentence: " << *answer.body;
    }
  }
}

TEST_F(ReviewSiteTest, NobodyWithoutTheTokenIsAnswered) {
  const std::string nearly = test_token.substr(0, 31) + "0", upper = "0123456789ABCDEF0123456789abcdef";
  for (const std::string& target :
       {std::string("/"), std::string("/data.json"), "/" + nearly + "/", "/" + upper + "/", "/" + test_token + "0/",
        "/" + test_token.substr(0, 31) + "/", "//" + test_token + "/", "/x/" + test_token + "/",
        std::string("/?") + test_token + "/", "/%30" + test_token.substr(1) + "/"}) {
    EXPECT_EQ(ask(target).status, 403) << target;
  }
  EXPECT_EQ(ask("http://" + here + "/" + test_token + "/").status, 400);
  EXPECT_EQ(ask("*").status, 400);
  EXPECT_EQ(ask("").status, 400);
}

TEST_F(ReviewSiteTest, SecretsAreComparedWhole) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const std::string guess : {"", "ab", "abd", "xbc", "abcd", "abcabc"}) EXPECT_FALSE(is_same_secret("abc", guess));
}

TEST_F(ReviewSiteTest, AnswersUnderTheNamesOfThisMachineOnly) {
  const auto status = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    return site_.answer({"GET", "/" + test_token + "/", headers, ""}).status;
  };
  EXPECT_EQ(status({{"Host", here}}), 200);
  EXPECT_EQ(status({{"hOST", "LocalHost:8123"}}), 200);
  for (const std::string host : {"127.0.0.1", "localhost", "evil.example:8123", "127.0.0.1:8124", "127.0.0.1:81230",
                                 "127.0.0.1:8123.evil.example", "127.0.0.1.evil.example:8123", "[::1]:8123",
                                 "0.0.0.0:8123", "user@127.0.0.1:8123", "127.0.0.1:08123", ""})
    EXPECT_EQ(status({{"Host", host}}), 403) << host;
  EXPECT_EQ(status({}), 403);
  EXPECT_EQ(status({{"Host", here}, {"Host", here}}), 403);
  EXPECT_EQ(status({{"Host", here}, {"Origin", "http://evil.example"}}), 403) << "reading, too";
}

TEST_F(ReviewSiteTest, OnlyItsOwnPageWrites) {
  EXPECT_EQ(status_with("Origin", "http://" + here), 200);
  EXPECT_EQ(status_with("Origin", "http://localhost:8123"), 200);
  for (const std::string origin : {"", "null", "http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:80",
                                   "http://127.0.0.1", "127.0.0.1:8123", "http://127.0.0.1:8123/", "file://"})
    EXPECT_EQ(status_with("Origin", origin), 403) << origin;
  ReviewRequest twice = post_request(batch_json(""));
  twice.headers.emplace_back("Origin", "http://" + here);
  EXPECT_EQ(site_.answer(twice).status, 403);
  EXPECT_EQ(status_with("Host", "evil.example:8123"), 403);

  EXPECT_EQ(status_with("Content-Type", "application/json; charset=utf-8"), 200);
  for (const std::string type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"})
    EXPECT_EQ(status_with("Content-Type", type), 415) << type;
  for (const std::string length : {"", "x", "-1", "1, 1", "99999999999999999999"})
    EXPECT_EQ(status_with("Content-Length", length), 411) << length;
  EXPECT_EQ(status_with("Content-Length", "2000001"), 413);
  EXPECT_EQ(status_with("Transfer-Encoding", "chunked"), 411);
  ReviewRequest large = post_request(batch_json(""));
  large.body.resize(ReviewSite::max_body_bytes + 1, ' ');
  EXPECT_EQ(site_.answer(large).status, 413);

  ReviewRequest elsewhere = post_request(batch_json(""));
  for (const std::string path : {"", "data.json", "thumb/0", "decisions/", "x"}) {
    elsewhere.target = "/" + test_token + "/" + path;
    EXPECT_EQ(site_.answer(elsewhere).status, 405) << path;
  }
  EXPECT_EQ(review_.journal.last(), 0U);
}

TEST_F(ReviewSiteTest, OtherMethodsAreRefused) {
  for (const std::string method : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    const ReviewAnswer answer = ask("/" + test_token + "/", method);
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(header_of(answer, "Allow"), "GET, HEAD, POST");
  }
  EXPECT_EQ(ask("/" + test_token + "/", "HEAD").status, 200);
}

TEST_F(ReviewSiteTest, NoPathLeadsToAFile) {
  for (const std::string path : {"..", "../", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "thumb/../data.json",
                                 "thumb/..%2f..%2fetc%2fpasswd", "/etc/passwd", "thumb//0", "thumb/0/", "thumb",
                                 "Data.json", "data.json/", "index.html", "decisions.csv", "thumb/0.jpg"})
    EXPECT_EQ(get(path).status, 404) << path;
  EXPECT_EQ(review_.pictures, 0);
}

TEST_F(ReviewSiteTest, PicturesAreAskedForByNumber) {
  for (const std::string id :
       {"", "-1", "+1", "8", "0x1", "1.0", " 1", "1 ", "4294967296", "18446744073709551616", "a", "%31"})
    EXPECT_EQ(get("thumb/" + id).status, 404) << id;
  EXPECT_EQ(review_.pictures, 0);
  const ReviewAnswer thumb = get("thumb/1"), image = get("image/1");
  EXPECT_EQ(thumb.type, "image/jpeg");
  EXPECT_EQ(size_of_jpeg(*thumb.body), (ImageSize{256, 256}));
  EXPECT_EQ(size_of_jpeg(*image.body), (ImageSize{MadeReview::stored_side, MadeReview::stored_side}));
  EXPECT_EQ(review_.pictures, 2);
  EXPECT_EQ(get("thumb/1").body, thumb.body) << "kept";
  EXPECT_EQ(review_.pictures, 2);
}

TEST_F(ReviewSiteTest, APictureThatCannotBeReadIsOneSentence) {
  EXPECT_EQ(get("thumb/3").status, 404);
  EXPECT_EQ(*get("thumb/3").body, "this sample has no picture\n");
  EXPECT_EQ(get("image/4").status, 404);
  EXPECT_EQ(*get("image/4").body, "a/4.jpg: the file is cut\n");
  EXPECT_EQ(get("thumb/5").status, 500);
  EXPECT_EQ(get("thumb/0").status, 200) << "and the next one is shown";
}

TEST_F(ReviewSiteTest, KeepsDecisionsAndTellsThem) {
  const ReviewAnswer first = post(R"({"id": 7, "decision": "label", "label": 3}, {"id": 0, "decision": "none"})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(*first.body, R"({"seq":2})");
  EXPECT_EQ(*post(R"({"id": 7, "decision": "clear"})").body, R"({"seq":3})");
  EXPECT_EQ(*post("").body, R"({"seq":3})");
  EXPECT_EQ(review_.batches, 2) << "an empty batch decides nothing";
  EXPECT_EQ(review_.journal.since(0).decisions, (std::vector{labelled(7, 3), none_of(0), cleared(7)}));
  EXPECT_EQ(*get("decisions?after=0").body,
            R"({"seq":3,"decisions":[{"id":7,"decision":"label","label":3},{"id":0,"decision":"none"},)"
            R"({"id":7,"decision":"clear"}]})");
  EXPECT_EQ(*get("decisions?after=2").body, R"({"seq":3,"decisions":[{"id":7,"decision":"clear"}]})");
  EXPECT_EQ(*get("decisions?after=3").body, R"({"seq":3,"decisions":[]})");
  EXPECT_EQ(nlohmann::json::parse(*get("decisions").body)["decisions"].size(), 3U);
  EXPECT_EQ(get("decisions?after=4").status, 409);
  for (const std::string query :
       {"after=", "after=-1", "after=x", "before=1", "after=1&after=2", "after=99999999999999999999"})
    EXPECT_EQ(get("decisions?" + query).status, 400) << query;
}

TEST_F(ReviewSiteTest, ABatchIsAllOrNothing) {
  const std::string good = R"({"id": 1, "decision": "none"})";
  for (const std::string bad :
       {R"({"id": 8, "decision": "none"})", R"({"id": -1, "decision": "none"})", R"({"id": 1.0, "decision": "none"})",
        R"({"id": "1", "decision": "none"})", R"({"id": 18446744073709551616, "decision": "none"})",
        R"({"decision": "none"})", R"({"id": 1})", R"({"id": 1, "decision": "maybe"})", R"({"id": 1, "decision": 1})",
        R"({"id": 1, "decision": "label"})", R"({"id": 1, "decision": "label", "label": 7})",
        R"({"id": 1, "decision": "label", "label": -1})", R"({"id": 1, "decision": "label", "label": "cat"})",
        R"({"id": 1, "decision": "none", "label": 1})", R"({"id": [[1]], "decision": "none"})", "7", "null", "[]"}) {
    const ReviewAnswer answer = post(good + "," + bad);
    EXPECT_EQ(answer.status, 400) << bad;
  }
  EXPECT_EQ(*post(good + ", {}").body, "decision 2 of the list: 'id' must be a whole number below 8; none was kept\n");
  EXPECT_EQ(review_.journal.last(), 0U);
  EXPECT_EQ(review_.batches, 0);
}

TEST_F(ReviewSiteTest, BrokenJsonIsRefused) {
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += (i > 0 ? "," : "") + std::string(R"({"id":1,"decision":"none"})");
  std::string objects;
  while (objects.size() < 1'900'000) objects += "{},";
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"), std::string(R"({"decisions": {}})"),
        std::string("{\"decisions\": []} x"), std::string("\0", 1), std::string("{\"decisions\": [\"\xff\"]}"),
        std::string(1'900'000, '['), batch_json(objects), batch_json(R"("\")"),
        R"({"decisions":)" + std::string(900'000, '[') + std::string(900'000, ']') + "}", batch_json(many)})
    EXPECT_EQ(site_.answer(post_request(body)).status, 400) << body.substr(0, 40);
  EXPECT_EQ(review_.journal.last(), 0U);
  many.resize(many.rfind(",{"));
  EXPECT_EQ(*post(many).body, R"({"seq":10000})");
}

TEST_F(ReviewSiteTest, AFullDiskIsToldAndNothingAcknowledged) {
  const std::string decision = R"({"id":1,"decision":"none"})";
  {
    const FullDisk disk(decisions_header.size());
    const ReviewAnswer answer = post(decision);
    EXPECT_EQ(answer.status, 507);
    EXPECT_TRUE(answer.body->ends_with("decisions.csv: the decision could not be kept; is the disk full?\n"));
  }
  EXPECT_EQ(review_.batches, 0);
  EXPECT_EQ(*get("decisions").body, R"({"seq":0,"decisions":[]})");
  EXPECT_EQ(*post(decision).body, R"({"seq":1})") << "once there is room again";
}

TEST_F(ReviewSiteTest, WhatIsMadeOfADecisionCannotUndoIt) {
  ReviewContent content = review_.content();
  content.decided = [] { throw std::runtime_error("no room for the lists"); };
  ReviewSite site(content, review_.journal, test_port, test_token, 0);
  EXPECT_EQ(site.answer(post_request(batch_json(R"({"id":1,"decision":"none"})"))).status, 200);
  EXPECT_EQ(review_.journal.last(), 1U);
}

TEST(PictureCache, KeepsTheMostRecentlyUsed) {
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::make_shared<const std::string>(800, 'x');
  };
  PictureCache cache(3000);  // three of 800 bytes and what an entry takes
  for (const std::uint32_t sample : {0, 1, 2}) cache.get(sample, make);
  EXPECT_EQ(cache.bytes(), 3000U);
  cache.get(0, make);
  EXPECT_EQ(made, 3);
  cache.get(3, make);  // in place of 1
  EXPECT_EQ(cache.bytes(), 3000U);
  for (const std::uint32_t sample : {0, 2, 3}) cache.get(sample, make);
  EXPECT_EQ(made, 4);
  cache.get(1, make);
  EXPECT_EQ(made, 5);
  cache.get(9, [] { return std::make_shared<const std::string>(5000, 'x'); });
  EXPECT_EQ(cache.bytes(), 3000U) << "what is larger than all is not kept";
  EXPECT_EQ(cache.get(10, [] { return nullptr; }), nullptr);
  EXPECT_THROW(cache.get(11, []() -> PictureCache::File { throw UserError("x"); }), UserError);
}

TEST(PictureCacheThreads, MakeAndDropSideBySide) {
  PictureCache cache(20'000);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i < 500; ++i) {
        const std::uint32_t sample = (i * 7 + thread) % 50;
        const auto file =
            cache.get(sample, [&] { return std::make_shared<const std::string>(std::to_string(sample)); });
        EXPECT_EQ(*file, std::to_string(sample));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.bytes(), 20'000U);
}

}  // namespace
}  // namespace regroup
