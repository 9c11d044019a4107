#include "regroup/audit/review_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/small_audit.h"

namespace regroup {
namespace {

using Json = nlohmann::json;

TEST(ReviewData, HasTheWorstFirstAndWhatTheyAreComparedWith) {
  Audit audit = small_audit();
  audit.evidence = {{1, {{3, 0.9F}}, {{0, 0.8F}}}};
  const ReviewSamples chosen = choose_review(audit, 2, 10);
  EXPECT_EQ(chosen.samples, (std::vector<std::uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(chosen.listed, 2U);
  const Json json = Json::parse(review_json(audit, {"run", "runs/'a b'", {{"Method", "rml"}}, {"<svg/>"}}, chosen,
                                            nullptr, std::vector<Decision>{{2, DecisionKind::none, no_class}}));
  EXPECT_EQ(json["served"], true);
  EXPECT_EQ(json["samples"]["id"], Json::parse("[1, 2, 3, 0]"));
  EXPECT_EQ(json["samples"]["name"][0], "a/1.jpg");
  EXPECT_EQ(json["evidence"]["0"], Json::parse(R"({"given": [2], "other": [3]})"));
  EXPECT_EQ(json["unlisted"], 3);
  EXPECT_NEAR(json["unlisted_wrong"].get<double>(), 0.01 + 0.03 + 0.1, 1e-4);
  EXPECT_EQ(json["decisions"], Json::parse(R"([{"id": 2, "decision": "none"}])"));
  EXPECT_EQ(json["labels"][0]["issues"], 2);
  EXPECT_EQ(json["labels"][0]["classes"][1]["labels"], 2);
  EXPECT_FALSE(json.contains("tile"));
}

TEST(ReviewData, ListsWhatIsOfNoClassAndContradictingPicturesEvenIfTheirLabelsSeemRight) {
  Audit audit = small_audit();
  for (int i = 0; i < 40; ++i) audit.samples.push_back(audit.samples[1]);  // forty that are worse
  audit.samples[0].duplicates = audit.samples[3].duplicates = 0;           // labelled 0 and 1
  audit.samples[4].none_of_these = 0.9F;
  const ReviewSamples chosen = choose_review(audit, 20, 0);
  const auto has = [&](std::uint32_t i) { return std::ranges::find(chosen.samples, i) != chosen.samples.end(); };
  EXPECT_EQ(chosen.listed, 20U);
  EXPECT_TRUE(has(0) && has(3) && has(4));
}

TEST(ReviewData, TilesTravelAsBase64) {
  const Audit audit = small_audit();
  const ReviewSamples chosen = choose_review(audit, 2, 0);
  Tiles tiles;
  tiles.size = 16;
  tiles.pictures = {{10, 12}, {}};
  tiles.sheets = {"M", "Ma", "Man", std::string("\0\xff\x10", 3)};
  const Json json = Json::parse(review_json(audit, {}, chosen, &tiles, {}));
  EXPECT_EQ(json["tile"]["sheets"], Json::parse(R"(["TQ==", "TWE=", "TWFu", "AP8Q"])"));
  EXPECT_EQ(json["samples"]["width"], Json::parse("[12, 0]"));
  EXPECT_EQ(json["served"], false);
}

TEST(ReviewData, VectorsAreShownAsTextOrAsTheNumberOfTheirRow) {
  Audit audit = small_audit();
  const ReviewSamples chosen = choose_review(audit, 2, 0);
  EXPECT_FALSE(Json::parse(review_json(audit, {}, chosen, nullptr, {}))["samples"].contains("text"));
  audit.has_pictures = false;
  audit.samples[1].text = "<b>lost card";
  const Json json = Json::parse(review_json(audit, {}, chosen, nullptr, {}));
  EXPECT_EQ(json["samples"]["text"], Json::parse(R"(["<b>lost card", "row 2 of train"])"));
}

// Decisions that a browser keeps belong to the labels and not to what is believed about them.
TEST(ReviewData, TheKeyIsOfTheLabels) {
  const auto key = [](const Audit& audit) {
    return Json::parse(review_json(audit, {}, choose_review(audit, 2, 0), nullptr, {}))["key"];
  };
  Audit audit = small_audit();
  const Json before = key(audit);
  audit.samples[0].belief.right = 0.5F;
  EXPECT_EQ(key(audit), before);
  audit.samples[0].given = 1;
  EXPECT_NE(key(audit), before);
}

TEST(ReviewData, NamesThatAreNoUtf8AreMadeReadable) {
  Audit audit = small_audit();
  audit.samples[1].path = "caf\xe9.jpg";
  const Json json = Json::parse(review_json(audit, {}, choose_review(audit, 1, 0), nullptr, {}));
  EXPECT_EQ(json["samples"]["name"][0], "caf\uFFFD.jpg");
}

TEST(ReviewPage, NothingInANameEndsItsScriptOrItsTitle) {
  const std::string page =
      review_page("</title><script>alert(1)</script> {{data}}", "123abc", R"({"name": "</script><b>{{style}}"})");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find(R"("\u003c/script>\u003cb>{{style}}")"), std::string::npos);
  EXPECT_NE(page.find("nonce=\"123abc\""), std::string::npos);
  EXPECT_NE(make_nonce(), make_nonce());
  EXPECT_EQ(make_nonce().size(), 32U);
}

}  // namespace
}  // namespace regroup
