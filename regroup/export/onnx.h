#pragma once

#include <string>

#include "regroup/export/exported_model.h"

namespace regroup {

/// The bytes of an ONNX file: opset 10, the number of samples is free. Input `images` or `vectors`, output `logits`;
/// the metadata has `class_names`, a JSON list, and `regroup`.
std::string onnx_bytes(const ExportedModel& model);

}  // namespace regroup
