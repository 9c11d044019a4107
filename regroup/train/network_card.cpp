#include "regroup/train/network_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"
#include "regroup/io/safetensors.h"

namespace regroup {
namespace {

using nlohmann::json;

/// A name may hold any bytes, and JSON holds UTF-8 only: what is none is written byte by byte.
json name_value(const std::string& name) {
  try {
    json(name).dump();
    return name;
  } catch (const json::type_error&) {
    return std::vector<unsigned char>(name.begin(), name.end());
  }
}

std::string name_of(const json& value) {
  if (value.is_string()) return value;
  const auto bytes = value.get<std::vector<unsigned char>>();
  return {bytes.begin(), bytes.end()};
}

constexpr int most_networks = 16;

/// The width is 0 in files of runs that left it to the network and did not say which that is.
bool makes_sense(const NetworkCard& card) {
  const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
  const auto finite = [](float value) { return std::isfinite(value); };
  const bool sized = card.is_vector()
                         ? within(card.channels, 1, 1 << 16)
                         : within(card.channels, 1, 4) && within(card.height, 28, 4096) && within(card.width, 28, 4096);
  return sized && within(card.networks, 1, most_networks) && within(card.resize, 0, 4096) &&
         (card.resize == 0 || card.resize >= std::min(card.height, card.width)) && !card.class_names.empty() &&
         within(card.base_width, 0, 1024) && card.mean.size() == static_cast<std::size_t>(card.channels) &&
         card.deviation.size() == card.mean.size() && std::all_of(card.mean.begin(), card.mean.end(), finite) &&
         std::all_of(card.deviation.begin(), card.deviation.end(), [&](float d) { return finite(d) && d > 0; });
}

}  // namespace

std::string network_prefix(std::size_t network) { return fmt::format("network{}.", network + 1); }

std::map<std::string, std::string> card_metadata(const NetworkCard& card) {
  json names = json::array();
  for (const std::string& name : card.class_names) names.push_back(name_value(name));
  json content{{"model", card.model},   {"base_width", card.base_width}, {"channels", card.channels},
               {"height", card.height}, {"width", card.width},           {"class_names", names},
               {"mean", card.mean},     {"deviation", card.deviation},   {"test_flip", card.test_flip},
               {"resize", card.resize}};
  if (card.networks > 1) {
    content["networks"] = card.networks;
    content["mean_of_logits"] = card.mean_of_logits;
  }
  return {{"format", "pt"}, {"regroup", content.dump()}};
}

NetworkCard read_card(const std::filesystem::path& weights_file) {
  if (auto card = find_card(weights_file)) return *card;
  throw UserError(fmt::format("{}: does not say which network it belongs to; give a file that regroup train wrote",
                              weights_file.string()));
}

std::optional<NetworkCard> find_card(const std::filesystem::path& weights_file) {
  const SafetensorsFile file(weights_file);
  const auto entry = file.metadata().find("regroup");
  if (entry == file.metadata().end()) return std::nullopt;
  NetworkCard card;
  try {
    const json content = json::parse(entry->second);
    card.model = content.at("model");
    card.base_width = content.at("base_width");
    card.channels = content.at("channels");
    card.height = content.at("height");
    card.width = content.at("width");
    for (const json& name : content.at("class_names")) card.class_names.push_back(name_of(name));
    card.mean = content.at("mean").get<std::vector<float>>();
    card.deviation = content.at("deviation").get<std::vector<float>>();
    card.test_flip = content.at("test_flip");
    card.resize = content.value("resize", 0);
    card.networks = content.value("networks", 1);
    card.mean_of_logits = content.value("mean_of_logits", false);
  } catch (const json::exception& error) {
    throw UserError(
        fmt::format("{}: its description of the network is broken: {}", weights_file.string(), error.what()));
  }
  if (!makes_sense(card))
    throw UserError(fmt::format("{}: its description of the network makes no sense", weights_file.string()));
  return card;
}

}  // namespace regroup
