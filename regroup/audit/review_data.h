#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regroup/audit/audit.h"
#include "regroup/audit/decisions.h"
#include "regroup/audit/pictures.h"

namespace regroup {

/// What the page tells about the run that was audited.
struct ReviewRun {
  std::string title;
  std::string folder;  ///< as a word of a command
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> charts;  ///< SVG
  std::string findings = {};        ///< where the audit lies, as a word of a command; empty: in folder/audit
};

/// The samples that a page holds.
struct ReviewSamples {
  std::vector<std::uint32_t> samples;
  std::size_t listed =
      0;  ///< the first so many are to be looked at, the worst first; the others are there for comparison
};

/// At most so many to look at: the worst, and of those that seem to belong to no class or are there more than once with
/// different labels a tenth each. At most `most_others` to compare them with.
ReviewSamples choose_review(const Audit& audit, std::size_t most_listed, std::size_t most_others);

/// What the page shows, as JSON: `page/10-data.js` says how it reads it. `audit` is as it was before anybody decided.
/// Without tiles the page asks a server for pictures.
std::string review_json(const Audit& audit, const ReviewRun& run, const ReviewSamples& chosen, const Tiles* tiles,
                        std::span<const Decision> decisions);

/// The page, in one file that needs no other. `nonce` is what its script and style are known by, and is made anew for
/// each page; see content_security_policy().
std::string review_page(std::string_view title, std::string_view nonce, std::string_view json);

/// What a browser lets such a page do, as a header.
std::string content_security_policy(std::string_view nonce);

/// A new one, from the system's random numbers.
std::string make_nonce();

}  // namespace regroup
