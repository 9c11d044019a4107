#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "regroup/nn/network.h"

namespace regroup {

/// All tensors of a network, under their names.
std::vector<NamedTensor> tensors_of(const Network& network);

/// Writes tensors as a safetensors file, whole or not at all.
void save_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& metadata = {});

/// Fills `tensors` from a safetensors file that has all of them with the same shapes. Of those that are named in
/// `growing`, vectors, the file may have fewer numbers: the rest stays as it is. Throws UserError that names the tensor
/// otherwise.
void load_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                  const std::set<std::string>& growing = {});

/// Fills what the file has with the same shape, and returns the names that it did not fill: a network for other classes
/// keeps its own classifier.
std::vector<std::string> load_fitting_tensors(const std::filesystem::path& file,
                                              const std::vector<NamedTensor>& tensors);

}  // namespace regroup
