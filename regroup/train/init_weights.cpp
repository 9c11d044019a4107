#include "regroup/train/init_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/printable.h"
#include "regroup/nn/network.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// By its name, or by its first bytes: a zip archive or a pickle.
bool is_pickle(const fs::path& file) {
  constexpr std::array<std::string_view, 6> endings = {".pth", ".pt", ".bin", ".ckpt", ".pkl", ".tar"};
  if (std::find(endings.begin(), endings.end(), file.extension().string()) != endings.end()) return true;
  char begin[4]{};
  std::ifstream(file, std::ios::binary).read(begin, sizeof begin);
  const std::string_view bytes(begin, sizeof begin);
  return bytes == "PK\x03\x04" || bytes.starts_with("\x80\x02");
}

void refuse_pickle(const fs::path& file) {
  if (!is_pickle(file)) return;
  const std::string name = printable(file.string());
  throw UserError(fmt::format(
      "{}: PyTorch's own format is not read, since such a file can run code; convert it by: python3 -c \"import sys, "
      "torch, safetensors.torch as s; d = torch.load(sys.argv[1], map_location='cpu', weights_only=True); "
      "s.save_file({{k: v.contiguous() for k, v in d.get('state_dict', d).items()}}, sys.argv[2])\" '{}' "
      "'{}'",
      name, name, printable(fs::path(file).replace_extension(".safetensors").string())));
}

const Fit::Misfit* misfit_of(const Fit& fit, std::string_view name) {
  const auto found =
      std::find_if(fit.misfits.begin(), fit.misfits.end(), [&](const auto& misfit) { return misfit.name == name; });
  return found == fit.misfits.end() ? nullptr : &*found;
}

/// The two stems of ResNets are a mistake that is easily made, and a network without its first layer learns from noise.
void check_stem(const fs::path& file, const std::string& model, const Fit& fit) {
  const Fit::Misfit* const stem = misfit_of(fit, "conv1.weight");
  if (stem == nullptr || stem->in_file.size() != 4 || stem->in_file[3] == stem->wanted[3]) return;
  constexpr std::string_view ending = "-imagenet";
  const std::string other =
      model.ends_with(ending) ? model.substr(0, model.size() - ending.size()) : model + std::string(ending);
  const auto known = networks();
  const bool exists = std::any_of(known.begin(), known.end(), [&](const auto& info) { return info.name == other; });
  throw UserError(
      fmt::format("{}: its first convolution has {}x{} pixels, and that of {} has {}x{}; {}", printable(file.string()),
                  stem->in_file[2], stem->in_file[3], model, stem->wanted[2], stem->wanted[3],
                  exists ? fmt::format("give --model {}", other) : "give the --model that the weights belong to"));
}

/// Up to ten of them.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  for (std::string& name : shown) name = printable(name.substr(0, 80));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

}  // namespace

std::optional<NetworkCard> init_weights_card(const fs::path& file) {
  refuse_pickle(file);
  return find_card(file);
}

Normalisation imagenet_normalisation() { return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}; }

std::optional<Normalisation> known_normalisation(const std::string& setting, const std::string& init_weights,
                                                 int channels) {
  const Normalisation imagenet = imagenet_normalisation();
  const bool in_colour = static_cast<std::size_t>(channels) == imagenet.mean.size();
  if (setting == "imagenet") {
    if (!in_colour)
      throw UserError(
          fmt::format("normalisation: imagenet is for three channels and the images have {}; give measured", channels));
    return imagenet;
  }
  if (setting == "measured" || init_weights.empty()) return std::nullopt;
  if (const auto card = init_weights_card(init_weights)) {
    if (card->mean.size() == static_cast<std::size_t>(channels)) return Normalisation{card->mean, card->deviation};
    return std::nullopt;
  }
  return in_colour ? std::optional(imagenet) : std::nullopt;
}

std::string load_init_weights(const fs::path& file, const std::string& model, Learner& learner) {
  refuse_pickle(file);
  const Network& network = learner.model();
  const Fit fit = load_fitting_tensors(file, tensors_of(network));
  check_stem(file, model, fit);
  learner.set_loaded(fit.loaded);

  std::vector<std::string> anew = fit.missing;
  for (const Fit::Misfit& misfit : fit.misfits)
    anew.push_back(
        fmt::format("{} [{}] not [{}]", misfit.name, fmt::join(misfit.in_file, ", "), fmt::join(misfit.wanted, ", ")));
  const auto is_of_classifier = [&](const std::string& name) { return network.is_of_classifier(name); };
  const std::string loaded = fmt::format("{}: {} of {} tensors loaded", printable(file.string()), fit.loaded.size(),
                                         tensors_of(network).size());
  if (!fit.loaded.empty() && anew.empty() && fit.unused.empty()) return loaded;
  if (!anew.empty() && std::all_of(anew.begin(), anew.end(), is_of_classifier) && fit.unused.empty())
    return loaded + "; the classifier starts anew, as it must for other classes";
  std::string sentence = loaded;
  if (!anew.empty()) sentence += fmt::format("; {} do not fit and start anew: {}", anew.size(), listed(anew));
  if (!fit.unused.empty())
    sentence += fmt::format("; {} of the file have no place in {}: {}", fit.unused.size(), model, listed(fit.unused));
  return sentence;
}

}  // namespace regroup
