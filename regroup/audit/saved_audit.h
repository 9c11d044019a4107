#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "regroup/audit/audit.h"

namespace regroup {

/// Writes what an audit found, before anybody decided, to a safetensors file: so it is shown and continued without the
/// network. About 130 bytes per sample and its path.
void write_audit(const std::filesystem::path& file, const Audit& audit);

/// Reads it back: everything but how beliefs were made (the sharpness, the adjustments). What does not fit is a
/// UserError; so numbers of samples and classes are in range, whoever wrote the file.
Audit read_audit(const std::filesystem::path& file);

/// From a stream that can be searched; `name` is for the messages.
Audit read_audit(std::istream& in, const std::string& name);

}  // namespace regroup
