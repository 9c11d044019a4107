#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "regroup/nn/graph.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {

/// A predictor as others are to run it: from samples as they are to logits.
struct ExportedModel {
  NetworkCard card;
  std::unique_ptr<Graph> graph;  ///< its input: images in RGB or grey, 0 to 255, or vectors
  std::size_t logits = 0;        ///< the node that is the result

  bool is_vector() const { return card.is_vector(); }
  const char* input_name() const { return is_vector() ? "vectors" : "images"; }

  /// What a caller has to give, in words.
  std::string input_text() const;

  /// For formats whose texts are UTF-8: bytes of names that are none are replaced.
  std::vector<std::string> class_names() const;

  /// All that is known of the model, as JSON: the `regroup` entry of our own files.
  std::string card_text() const;
};

/// Without `mirror`, it predicts from the image alone also where it was measured by the mean over an image and its
/// mirror image: in half the time. Where several networks predict together, all of them are in the graph.
ExportedModel exported_model(const TrainedPredictor& trained, bool mirror);

/// A predictor as one safetensors file that load_trained_predictor reads.
void write_weights(const std::filesystem::path& file, const TrainedPredictor& trained, bool mirror);

}  // namespace regroup
