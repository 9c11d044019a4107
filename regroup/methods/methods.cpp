// The table of methods: a new one is a file beside this one and a row here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "regroup/core/error.h"
#include "regroup/methods/co_teaching.h"
#include "regroup/methods/cross_entropy.h"
#include "regroup/methods/dividemix.h"
#include "regroup/methods/method.h"
#include "regroup/methods/mixup.h"
#include "regroup/methods/pes.h"
#include "regroup/methods/rml.h"
#include "regroup/methods/rml_semi.h"

namespace regroup {

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> table{cross_entropy_method(), mixup_method(), co_teaching_method(), pes_method(),
                                             dividemix_method(),     rml_method(),   rml_semi_method()};
  return table;
}

const MethodInfo& method_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : methods()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  throw UserError(fmt::format("unknown method '{}'; known: {}", name, fmt::join(names, ", ")));
}

}  // namespace regroup
