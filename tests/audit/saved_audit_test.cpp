#include "regroup/audit/saved_audit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "audit/small_audit.h"
#include "regroup/audit/audit_files.h"
#include "regroup/core/error.h"

namespace regroup {
namespace {

std::filesystem::path temporary_file() {
  return std::filesystem::path(testing::TempDir()) /
         (std::string("saved-audit-") + testing::UnitTest::GetInstance()->current_test_info()->name());
}

TEST(SavedAudit, OfVectorsHasTheirTexts) {
  Audit audit = small_audit();
  audit.has_pictures = false;
  audit.samples[1].text = std::string("=1+1, \"a\"\nb\0c", 13);
  write_audit(temporary_file(), audit);
  const Audit read = read_audit(temporary_file());
  EXPECT_FALSE(read.has_pictures);
  EXPECT_EQ(read.samples[1].text, "=1+1, \"a\"\nbc");
  EXPECT_TRUE(read.samples[0].text.empty());
  EXPECT_NE(issues_csv(read).find("true_label,text\n"), std::string::npos);
  EXPECT_NE(issues_csv(read).find("\"'=1+1, \"\"a\"\"\nbc\""), std::string::npos) << issues_csv(read);
}

TEST(SavedAudit, IsReadBackAsItWas) {
  Audit audit = small_audit();
  audit.root = "/photos of \xff things";
  audit.samples[2].path = "with\na line, a \"quote\" and \xff";
  audit.samples[0].duplicates = audit.samples[2].duplicates = 0;
  audit.samples[1].none_of_these = 0.25F;
  audit.samples[4].listed = false;
  audit.evidence = {{1, {{0, 0.5F}}, {{2, 0.25F}, {3, 0.125F}}}, {2, {}, {}}};
  audit.labels[0].beliefs.uncertainty = 0.02;
  write_audit(temporary_file(), audit);
  const Audit read = read_audit(temporary_file());
  EXPECT_EQ(read.root, audit.root);
  EXPECT_EQ(read.class_names, audit.class_names);
  EXPECT_EQ(read.parts, audit.parts);
  EXPECT_EQ(issues_csv(read), issues_csv(audit));
  EXPECT_EQ(trusted_csv(read), trusted_csv(audit));
  EXPECT_EQ(neighbours_csv(read), neighbours_csv(audit));
  ASSERT_EQ(read.labels.size(), 2U);
  for (std::size_t g = 0; g < 2; ++g) {
    const Beliefs &was = audit.labels[g].beliefs, &is = read.labels[g].beliefs;
    EXPECT_EQ(read.labels[g].name, audit.labels[g].name);
    EXPECT_EQ(read.labels[g].first, audit.labels[g].first);
    EXPECT_EQ(is.samples.size(), was.samples.size());
    EXPECT_EQ(is.likely, was.likely);
    EXPECT_EQ(is.noise_rate.high, was.noise_rate.high);
    EXPECT_EQ(is.fit.transition(0, 1), was.fit.transition(0, 1));
    EXPECT_EQ(is.uncertainty, was.uncertainty);
  }
  EXPECT_EQ(read.samples[2].path, audit.samples[2].path);
  EXPECT_FALSE(read.samples[4].listed);
}

// Whichever byte is changed leaves an audit whose numbers are in range, or one sentence.
TEST(SavedAudit, ADamagedFileIsNotBelieved) {
  Audit audit = small_audit();
  audit.evidence = {{1, {{0, 0.5F}}, {{2, 0.25F}}}};
  write_audit(temporary_file(), audit);
  std::stringstream content;
  content << std::ifstream(temporary_file(), std::ios::binary).rdbuf();
  const std::string whole = content.str();
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    std::ofstream(temporary_file(), std::ios::binary) << damaged;
    try {
      const Audit read = read_audit(temporary_file());
      issues_csv(read);
      neighbours_csv(read);
      for (std::uint32_t i = 0; i < read.samples.size(); ++i)
        for (const LikelyClass& one : read.likely_of(i)) EXPECT_LT(one.label, 2);
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(temporary_file().string()), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  std::ofstream(temporary_file(), std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_THROW(read_audit(temporary_file()), UserError);
}

}  // namespace
}  // namespace regroup
