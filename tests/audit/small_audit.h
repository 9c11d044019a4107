#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "regroup/audit/audit.h"

namespace regroup {

/// Four training images, one of them wrong, one doubtful, and a test image.
inline Audit small_audit() {
  Audit audit;
  audit.class_names = {"cat", "dog, big"};
  audit.parts = {"train", "val", "test"};
  audit.samples.resize(5);
  const float right[] = {0.99F, 0.02F, 0.4F, 0.97F, 0.9F};
  const std::int32_t given[] = {0, 1, 0, 1, 0}, truth[] = {0, 0, 0, 1, -1};
  for (std::size_t i = 0; i < 5; ++i) {
    AuditedSample& sample = audit.samples[i];
    sample.index = static_cast<std::uint32_t>(i == 4 ? 0 : i);
    sample.part = i == 4 ? 2 : i == 3 ? 1 : 0;
    sample.given = given[i];
    sample.truth = truth[i];
    sample.path = "a/" + std::to_string(i) + ".jpg";
    sample.belief = {right[i], right[i] >= 0.5F ? given[i] : 1 - given[i], 1 - given[i], 1 - right[i], 1, 0};
  }
  Beliefs learnt, test;
  for (std::size_t i = 0; i < 4; ++i) learnt.samples.push_back(audit.samples[i].belief);
  test.samples.push_back(audit.samples[4].belief);
  for (Beliefs* beliefs : {&learnt, &test}) {
    beliefs->fit.transition = symmetric_transition(2, 0.2);
    beliefs->noise_rate = {0.4, 0.1, 0.7};
    beliefs->class_noise_rates.resize(2);
    beliefs->likely_each = 2;
    for (const Belief& belief : beliefs->samples) {
      beliefs->likely.push_back({belief.likeliest, std::max(belief.right, 1 - belief.right)});
      beliefs->likely.push_back({1 - belief.likeliest, std::min(belief.right, 1 - belief.right)});
    }
  }
  audit.labels.push_back({"labels of training and validation images", learnt, 0});
  audit.labels.push_back({"labels of test", test, 4});
  return audit;
}

}  // namespace regroup
