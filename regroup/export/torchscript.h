#pragma once

#include <string>

#include "regroup/export/exported_model.h"

namespace regroup {

/// The bytes of a TorchScript file for torch.jit.load: forward(images or vectors) gives the logits. Its tensors have
/// the names that they have in our own files. Attributes: class_names, channels, height, width, resize. The extra file
/// `regroup.json` has what is known of the model.
std::string torchscript_bytes(const ExportedModel& model);

}  // namespace regroup
