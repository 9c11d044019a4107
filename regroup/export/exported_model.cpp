#include "regroup/export/exported_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "regroup/nn/weights.h"

namespace regroup {
namespace {

/// What turns samples as they are into what the network was trained on.
Symbol normalised(Graph& graph, const NetworkCard& card) {
  const double largest = card.is_vector() ? 1 : 255;
  const auto channels = static_cast<std::int64_t>(card.mean.size());
  const at::Tensor factor = at::empty({channels}), offset = at::empty({channels});
  for (std::int64_t c = 0; c < channels; ++c) {
    const double mean = card.mean[static_cast<std::size_t>(c)];
    const double deviation = card.deviation[static_cast<std::size_t>(c)];
    factor.data_ptr<float>()[c] = static_cast<float>(1 / (largest * deviation));
    offset.data_ptr<float>()[c] = static_cast<float>(-mean / deviation);
  }
  graph.name(factor, "input_factor");
  graph.name(offset, "input_offset");
  return scale(graph.input(), factor, offset);
}

/// The mean over the networks' logits, or logits whose softmax is the mean over their probabilities.
Symbol averaged(const std::vector<Symbol>& logits, PredictorMean mean) {
  if (logits.size() == 1) return logits.front();
  const bool by_logits = mean == PredictorMean::logits;
  Symbol sum;
  for (const Symbol& each : logits) {
    const Symbol part = by_logits ? each : softmax(each);
    sum = sum.defined() ? sum + part : part;
  }
  sum = sum / static_cast<double>(logits.size());
  return by_logits ? sum : log(sum);
}

/// Tensors of one of several networks have its number before their names.
std::string prefix_of(std::size_t network, std::size_t networks) {
  return networks == 1 ? "" : network_prefix(network);
}

}  // namespace

std::string ExportedModel::input_text() const {
  if (is_vector()) return fmt::format("vectors: [samples, {}]", card.channels);
  return fmt::format("images: [samples, {}, {}, {}], {}, 0 to 255", card.channels, card.height, card.width,
                     card.channels == 1 ? "grey" : "RGB");
}

std::vector<std::string> ExportedModel::class_names() const {
  std::vector<std::string> names;
  for (const std::string& name : card.class_names) {
    const std::string text = nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    names.push_back(nlohmann::json::parse(text));
  }
  return names;
}

std::string ExportedModel::card_text() const { return card_metadata(card).at("regroup"); }

ExportedModel exported_model(const TrainedPredictor& trained, bool mirror) {
  const NetworkCard& card = trained.card;
  ExportedModel model{card, nullptr};
  model.card.test_flip = card.test_flip && mirror && !card.is_vector();
  model.graph = std::make_unique<Graph>(card.is_vector() ? SampleExtent{card.channels}
                                                         : SampleExtent{card.channels, card.height, card.width});
  const Symbol x = normalised(*model.graph, card);
  const Symbol mirrored = model.card.test_flip ? regroup::mirror(x) : Symbol();
  std::vector<Symbol> logits;
  for (std::size_t i = 0; i < trained.networks.size(); ++i) {
    const Network& network = *trained.networks[i];
    model.graph->name(network, prefix_of(i, trained.networks.size()));
    logits.push_back(network.describe(x).logits);
    if (mirrored.defined()) logits.back() = (logits.back() + network.describe(mirrored).logits) / 2;
  }
  model.logits = averaged(logits, trained.mean).node();
  return model;
}

void write_weights(const std::filesystem::path& file, const TrainedPredictor& trained, bool mirror) {
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < trained.networks.size(); ++i)
    for (const NamedTensor& tensor : tensors_of(*trained.networks[i]))
      tensors.push_back({prefix_of(i, trained.networks.size()) + tensor.name, tensor.tensor});
  NetworkCard card = trained.card;
  card.test_flip = card.test_flip && mirror;
  card.networks = static_cast<int>(trained.networks.size());
  card.mean_of_logits = trained.mean == PredictorMean::logits;
  save_tensors(file, tensors, card_metadata(card));
}

}  // namespace regroup
