// What an audit saved: read_audit.
#include <sstream>
#include <string>

#include "regroup/audit/audit_files.h"
#include "regroup/audit/saved_audit.h"
#include "regroup/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const regroup::Audit audit = regroup::read_audit(in, "audit");
    regroup::issues_csv(audit);
    regroup::trusted_csv(audit);
    regroup::neighbours_csv(audit);
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
