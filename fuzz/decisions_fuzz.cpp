// Any text is a file of decisions, or a UserError; what was read is written and read back as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/audit/decisions.h"
#include "regroup/core/error.h"

namespace {

regroup::Audit make_audit() {
  regroup::Audit audit;
  audit.class_names = {"cat", "=1+1", "two\nlines", "\"so\", he", "'tis", "2", "caf\xe9", "crane", "crane"};
  audit.parts = {"train", "-test"};
  const char* const paths[] = {"a.png", "-b/c.png", "d, \"e\"\n.png", "", "caf\xe9.png"};
  for (std::uint8_t part = 0; part < 2; ++part) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      regroup::AuditedSample sample;
      sample.index = i;
      sample.part = part;
      sample.path = paths[i];
      audit.samples.push_back(sample);
    }
  }
  return audit;
}

const regroup::Audit audit = make_audit();

void check(const std::vector<regroup::Decision>& decisions) {
  for (const auto& decision : decisions) {
    const bool has_label = decision.kind == regroup::DecisionKind::label;
    const bool fits = has_label
                          ? decision.label >= 0 && static_cast<std::size_t>(decision.label) < audit.class_names.size()
                          : decision.label == -1;
    if (decision.sample >= audit.samples.size() || !fits) std::abort();
  }
  if (regroup::parse_decisions(regroup::decisions_csv(decisions, audit), "again", audit) != decisions) std::abort();
  if (regroup::standing_decisions(decisions).size() > decisions.size()) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<regroup::Decision> decisions;
  try {
    decisions = regroup::parse_decisions({reinterpret_cast<const char*>(data), size}, "fuzz", audit);
  } catch (const regroup::UserError&) {
    return 0;
  }
  check(decisions);
  return 0;
}
