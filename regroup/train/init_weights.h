#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "regroup/data/augment.h"
#include "regroup/methods/learner.h"
#include "regroup/train/network_card.h"

namespace regroup {

/// What the file of `init-weights` says about itself, where it does: files of regroup train, and those that
/// examples/convert_weights.py wrote. Throws UserError for a file that is no safetensors file; one of PyTorch's own
/// format is refused with the line of Python that converts it.
std::optional<NetworkCard> init_weights_card(const std::filesystem::path& file);

/// The normalisation that weights trained on ImageNet expect where nobody says otherwise.
Normalisation imagenet_normalisation();

/// What images of so many channels are normalised by, where that is not to be measured: by the settings `normalisation`
/// and `init-weights`.
std::optional<Normalisation> known_normalisation(const std::string& setting, const std::string& init_weights,
                                                 int channels);

/// Fills a learner's network, of the kind `model`, and its ema with what fits, and says in a sentence what did not.
std::string load_init_weights(const std::filesystem::path& file, const std::string& model, Learner& learner);

}  // namespace regroup
