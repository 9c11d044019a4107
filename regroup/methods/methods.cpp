// The table of methods: a new one is a file beside this one and a row here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "regroup/core/error.h"
#include "regroup/methods/co_teaching.h"
#include "regroup/methods/cross_entropy.h"
#include "regroup/methods/dividemix.h"
#include "regroup/methods/dmi.h"
#include "regroup/methods/elr.h"
#include "regroup/methods/elr_plus.h"
#include "regroup/methods/forward.h"
#include "regroup/methods/gce.h"
#include "regroup/methods/iterative_cv.h"
#include "regroup/methods/jo_src.h"
#include "regroup/methods/joint_optim.h"
#include "regroup/methods/m_correction.h"
#include "regroup/methods/mentornet.h"
#include "regroup/methods/method.h"
#include "regroup/methods/mixup.h"
#include "regroup/methods/mlnt.h"
#include "regroup/methods/moit.h"
#include "regroup/methods/nce_rce.h"
#include "regroup/methods/ncr.h"
#include "regroup/methods/pencil.h"
#include "regroup/methods/pes.h"
#include "regroup/methods/pes_semi.h"
#include "regroup/methods/promix.h"
#include "regroup/methods/rml.h"
#include "regroup/methods/rml_semi.h"
#include "regroup/methods/sce.h"
#include "regroup/methods/sel_cl.h"
#include "regroup/methods/sop.h"
#include "regroup/methods/ssr.h"
#include "regroup/methods/t_revision.h"
#include "regroup/methods/unicon.h"

namespace regroup {

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> table{
      cross_entropy_method(), mixup_method(),    co_teaching_method(), forward_method(),      joint_optim_method(),
      t_revision_method(),    dmi_method(),      gce_method(),         sce_method(),          pencil_method(),
      nce_rce_method(),       mlnt_method(),     mentornet_method(),   iterative_cv_method(), m_correction_method(),
      elr_method(),           elr_plus_method(), pes_method(),         pes_semi_method(),     dividemix_method(),
      unicon_method(),        jo_src_method(),   ssr_method(),         promix_method(),       sel_cl_method(),
      moit_method(),          sop_method(),      ncr_method(),         rml_method(),          rml_semi_method()};
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
