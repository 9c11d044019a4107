#pragma once

#include <string>

#include "regroup/audit/audit.h"
#include "regroup/audit/decisions.h"

namespace regroup {

/// Names as nobody should choose them, in two parts of a dataset.
inline Audit named_audit(std::size_t train = 6, std::size_t test = 2) {
  Audit audit;
  audit.class_names = {"cat", "=1+1", "two\nlines", "\"quoted\", 'so'", "'tis", "2", "caf\xe9"};
  audit.parts = {"train", "val", "test"};
  const auto add = [&](std::size_t count, std::uint8_t part) {
    for (std::uint32_t i = 0; i < count; ++i) {
      AuditedSample sample;
      sample.index = 10 * i;
      sample.part = part;
      sample.path = (i % 3 == 0 ? "-a/" : i % 3 == 1 ? "b\n/\"" : "caf\xe9/") + std::to_string(i) + ".jpg";
      audit.samples.push_back(sample);
    }
  };
  add(train, 0);
  add(test, 2);
  return audit;
}

inline Decision labelled(std::uint32_t sample, std::int32_t label) { return {sample, DecisionKind::label, label}; }
inline Decision none_of(std::uint32_t sample) { return {sample, DecisionKind::none}; }
inline Decision cleared(std::uint32_t sample) { return {sample, DecisionKind::clear}; }

/// As many decisions as are wanted, of all kinds, about all samples and classes.
inline std::vector<Decision> many_decisions(const Audit& audit, std::uint32_t count) {
  std::vector<Decision> decisions;
  const auto samples = static_cast<std::uint32_t>(audit.samples.size());
  const auto classes = static_cast<std::uint32_t>(audit.class_names.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t sample = i * 7 % samples;
    decisions.push_back(i % 5 == 3   ? none_of(sample)
                        : i % 5 == 4 ? cleared(sample)
                                     : labelled(sample, static_cast<std::int32_t>(i * 3 % classes)));
  }
  return decisions;
}

}  // namespace regroup
