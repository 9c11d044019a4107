#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "audit/audit_testing.h"
#include "audit/decision_testing.h"
#include "regroup/audit/decision_journal.h"
#include "regroup/audit/review_site.h"
#include "regroup/core/error.h"
#include "regroup/data/image_file.h"
#include "support/temporary_folder.h"

namespace regroup {

inline constexpr int test_port = 8123;
inline const std::string test_token = "0123456789abcdef0123456789abcdef";

/// A review of six training and two test samples. Sample 3 has no picture; that of 4 cannot be read, and that of 5
/// meets a mistake of ours.
struct MadeReview {
  TemporaryFolder folder;
  Audit audit = named_audit();
  DecisionJournal journal{folder.path() / "decisions.csv", audit};
  std::atomic<int> pictures = 0, batches = 0;

  ReviewContent content() {
    ReviewContent content;
    content.page = "<!doctype html><p>page</p>";
    content.policy = "default-src 'none'";
    content.data_json = R"({"version":1})";
    content.samples = audit.samples.size();
    content.classes = static_cast<int>(audit.class_names.size());
    content.picture = [this](std::uint32_t sample, int longest) { return picture(sample, longest); };
    content.decided = [this] { ++batches; };
    return content;
  }

  static constexpr int stored_side = 400;

  std::optional<Image> picture(std::uint32_t sample, int longest) {
    ++pictures;
    if (sample == 3) return std::nullopt;
    if (sample == 4) throw UserError("a/4.jpg: the file is cut");
    if (sample == 5) throw std::runtime_error("a mistake");
    return made_picture(sample, std::min(longest, stored_side));
  }
};

inline ImageSize size_of_jpeg(const std::string& file) {
  return decode_image({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "answer").size;
}

inline std::string batch_json(const std::string& decisions) { return "{\"decisions\": [" + decisions + "]}"; }

}  // namespace regroup
