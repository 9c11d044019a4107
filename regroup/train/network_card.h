#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "regroup/data/sample_source.h"

namespace regroup {

/// What a weights file says about itself, so that it can be used without its run.
struct NetworkCard {
  std::string model;
  int base_width = 0;
  int channels = 0, height = 0, width = 0;
  std::vector<std::string> class_names;
  std::vector<float> mean, deviation;
  bool test_flip = false;
  int resize = 0;    ///< the shorter side that image files are scaled to, before the middle is cut out; 0: the height
  int networks = 1;  ///< that predict together; tensors of several have network_prefix() before their names
  bool mean_of_logits = false;  ///< what is averaged over several networks; otherwise it is probabilities

  bool is_vector() const { return height == 1 && width == 1; }  ///< its numbers are the channels
  SampleShape shape() const { return {channels, height, width, is_vector()}; }
};

std::string network_prefix(std::size_t network);

std::map<std::string, std::string> card_metadata(const NetworkCard& card);

/// Throws UserError where the file does not say what it is.
NetworkCard read_card(const std::filesystem::path& weights_file);

/// The same, or nothing where the file does not say.
std::optional<NetworkCard> find_card(const std::filesystem::path& weights_file);

}  // namespace regroup
