#pragma once

#include <cstdint>
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

/// What became of tensors that a file of another network was to fill.
struct Fit {
  struct Misfit {
    std::string name;
    std::vector<std::int64_t> in_file, wanted;  ///< shapes
  };

  std::set<std::string> loaded;
  std::vector<std::string> missing;  ///< the file has nothing under this name
  std::vector<Misfit> misfits;
  std::vector<std::string> unused;  ///< what the file has beside them, under the names that it has there
};

/// Fills what the file has with the same shape: a network for other classes keeps its own classifier. Numbers of any
/// floating type are taken, and names may begin with `module.`, as PyTorch's parallel training leaves them. Counts of
/// batches need not be there. Throws UserError where nothing fits or a number is not finite.
Fit load_fitting_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors);

}  // namespace regroup
