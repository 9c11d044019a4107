#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regroup/audit/neighbours.h"
#include "regroup/labels/beliefs.h"

namespace regroup {

/// What somebody decided about a sample that shows nothing of any class.
inline constexpr std::int32_t no_class = -1;

/// A label that was judged, and what was found about it.
struct AuditedSample {
  std::uint32_t index = 0;  ///< the image's position in the training images, or in its test set
  std::uint8_t part = 0;    ///< of Audit::parts
  std::string path;         ///< empty where images are no files
  std::string text;         ///< what a vector was made of, where that is known
  std::int32_t given = 0;
  std::int32_t truth = -1;  ///< where it is known
  Belief belief;
  float none_of_these = 0;              ///< the probability that it belongs to no class
  std::int32_t duplicates = -1;         ///< the group of samples that show the same picture
  bool listed = true;                   ///< false: it was judged for the sake of the others
  std::optional<std::int32_t> decided;  ///< the class that somebody gave it, or no_class (recalibrate.h)

  /// Whether its label is more probably wrong than right.
  bool is_issue() const { return belief.right < 0.5F; }

  /// The label that it should have: another one only where that is more probable than all others together.
  std::int32_t corrected() const { return is_issue() && belief.other_probability > 0.5F ? belief.other : given; }

  /// So clearly right, once corrected, that it can be built on.
  bool is_clear() const { return decided ? *decided != no_class : belief.right >= 0.95F && none_of_these < 0.5F; }
};

/// Labels that went wrong in the same way: those of training and validation images together, and those of each test
/// set.
struct AuditedLabels {
  std::string name;
  Beliefs beliefs;  ///< its samples are those of the audit from `first` on
  std::size_t first = 0;
};

/// The samples most like one whose label is doubted, of those whose labels are believed; their ids are samples.
struct Evidence {
  std::uint32_t suspect = 0;
  std::vector<Neighbour> like_given, like_suggested;
};

struct Audit {
  std::vector<std::string> class_names;
  std::vector<std::string> parts;  ///< train, val, test, ...
  std::filesystem::path root;      ///< what paths of samples are relative to
  std::vector<AuditedSample> samples;
  std::vector<AuditedLabels> labels;
  std::vector<Evidence> evidence;  ///< the worst first; empty where the network's features are not known
  bool knows_history = true;       ///< false: judged by the last predictions alone
  bool has_pictures = true;        ///< false: samples are vectors, and no image files belong to them

  /// The listed samples, the least probably right first.
  std::vector<std::uint32_t> worst_first() const;

  /// The likeliest classes of a sample, the likeliest first; none where they are not known.
  std::span<const LikelyClass> likely_of(std::uint32_t sample) const;

  /// Groups of duplicates whose labels differ.
  std::size_t contradictions() const;
};

/// How good the list is, where true labels are known.
struct AuditQuality {
  std::size_t known = 0, wrong = 0;
  double average_precision = 0;    ///< of the list from the worst on, wrong labels being what is looked for
  double worst_precision = 0;      ///< the share of wrong labels among the worst 1 %
  double recall = 0;               ///< of the wrong labels, among as many of the worst as there are wrong ones
  double calibration_error = 0;    ///< the mean distance of label_score from the share of right labels, in 20 ranges
  double suggestion_accuracy = 0;  ///< of the wrong labels that are found, how many have the true one suggested
};

/// Nothing where no true label is known.
std::optional<AuditQuality> audit_quality(const Audit& audit, const AuditedLabels& labels);

/// The average precision of a ranking by `scores`, lowest first, of samples that are to be found where `found` is 1.
/// Equal scores count as one step.
double average_precision(std::span<const float> scores, std::span<const std::uint8_t> found);

}  // namespace regroup
