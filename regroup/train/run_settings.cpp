#include "regroup/train/run_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/nn/network.h"

namespace regroup {
namespace {

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : methods()) names.push_back(method.name);
  return names;
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const NetworkInfo& network : networks()) names.push_back(network.name);
  return names;
}

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return names;
}

void set_given(Settings& settings, const GivenValue& given) {
  if (given.is_typed) {
    settings.set_text(given.name, std::get<std::string>(given.value), given.source);
  } else {
    settings.set(given.name, given.value, given.source);
  }
}

/// The strongest value that was given for a setting, or its default.
std::string chosen(const std::vector<std::vector<GivenValue>>& layers, std::string_view name) {
  Settings settings(common_settings());
  for (const auto& layer : layers)
    for (const GivenValue& given : layer)
      if (given.name == name) set_given(settings, given);
  return settings.text(name);
}

const Recipe& recipe_named(const std::string& name) {
  return *std::find_if(recipes().begin(), recipes().end(), [&](const Recipe& recipe) { return recipe.name == name; });
}

/// A method's own setting of this name, if it has one.
const SettingInfo* own_setting(const MethodInfo& method, std::string_view name) {
  const auto found = std::find_if(method.settings.begin(), method.settings.end(),
                                  [&](const SettingInfo& setting) { return setting.name == name; });
  return found == method.settings.end() ? nullptr : &*found;
}

/// The methods that have a setting of this name.
std::vector<std::string_view> owners_of(std::string_view setting) {
  std::vector<std::string_view> owners;
  for (const MethodInfo& method : methods())
    if (own_setting(method, setting) != nullptr) owners.push_back(method.name);
  return owners;
}

/// Whether a name means one thing to the method that a layer was written for, and another to this method: the settings
/// of two methods are the same where they stand under the same heading.
bool means_another(std::string_view name, const std::vector<GivenValue>& layer, const MethodInfo& method) {
  const SettingInfo* const ours = own_setting(method, name);
  const auto written_for = std::find_if(layer.begin(), layer.end(), [](const auto& g) { return g.name == "method"; });
  if (ours == nullptr || written_for == layer.end()) return false;
  const SettingInfo* const theirs = own_setting(method_named(to_text(written_for->value)), name);
  return theirs != nullptr && theirs->group != ours->group;
}

}  // namespace

std::vector<SettingInfo> common_settings() {
  using Int = std::int64_t;
  using Text = std::string;
  constexpr double big = 1e9;
  return {
      {"data", "Data", Text("fashion-mnist"), "The dataset: a name, folder:PATH or csv:FILE"},
      {"data-dir", "Data", Text(), "Where the dataset lies, if not where its package puts it"},
      {"labels", "Data", Text(),
       "A file of labels that replace the dataset's: index,label[,clean] or path,label[,clean], or one per line, or "
       "NPY"},
      {"noise", "Data", Text("none"), "Makes labels wrong on purpose: KIND:RATE, see regroup noise --help"},
      {"trusted", "Data", Text(),
       "A file of images (index or path) whose labels are known to be right: their weight is 1"},
      {"val-split", "Data", 0.1,
       "The share of the training data that is put aside for validation, unless the data has a validation part", 0,
       0.9},
      {"test-split", "Data", 0.1, "The share that becomes the test part where image files have none", 0, 0.9},
      {"limit", "Data", Int{0}, "Train on so many images, a fair part of each label; 0 is all", 0, big},
      {"image-size", "Data", Int{0},
       "Image files: height and width in pixels; 0 is what most images have, and at most "
       "what the network is made for (fast: 96, the others: 224)",
       0, 4096},
      {"on-bad-image",
       "Data",
       Text("refuse"),
       "What to do with an image file that cannot be read",
       0,
       0,
       {"skip", "refuse"}},

      {"method", "Training", Text("rml"), "How to learn from labels that are partly wrong", 0, 0, method_names()},
      {"recipe", "Training", Text("paper"), "How the network is optimised; its values can be changed one by one", 0, 0,
       recipe_names()},
      {"model", "Training", Text("resnet18"), "The network", 0, 0, model_names()},
      {"width", "Training", Int{0}, "Channels of the network's first block; 0 is the network's own", 0, 1024},
      {"init-weights", "Training", Text(), "A safetensors file to start from; what does not fit starts anew"},
      {"seed", "Training", Int{1}, "Another seed, another run", 0, 9e15},
      {"epochs", "Training", Int{200}, "Passes over the training data", 1, 1e6},
      {"batch-size", "Training", Int{128}, "Images a step", 2, 65536},
      {"lr", "Training", 0.1, "The learning rate at its highest", 1e-12, 1000},
      {"min-lr", "Training", 1e-4, "The learning rate at the end", 0, 1000},
      {"schedule",
       "Training",
       Text("cosine"),
       "How the learning rate falls to min-lr; steps: to a tenth at each of lr-steps; late-linear: from 2/5 of the run "
       "on",
       0,
       0,
       {"cosine", "linear", "late-linear", "steps", "constant"}},
      {"lr-steps", "Training", Text("0.5, 0.75"),
       "Schedule steps: the shares of the run after which the rate is a tenth"},
      {"lr-rise", "Training", 0.0, "The share of the run in which the learning rate rises to its highest", 0, 0.9},
      {"lr-start", "Training", 0.2, "The share of the highest learning rate that it rises from", 0, 1},
      {"optimizer", "Training", Text("sgd"), "What takes the steps", 0, 0, {"sgd", "adam"}},
      {"momentum", "Training", 0.9, "Of the gradient descent", 0, 0.9999},
      {"nesterov", "Training", false, "Nesterov's form of the momentum"},
      {"weight-decay", "Training", 5e-4, "Pulls weights towards 0", 0, 1},
      {"label-smoothing", "Training", 0.0, "The share of a label that is spread over all classes", 0, 0.99},
      {"ema", "Training", 0.999, "Lambda of the momentum model that follows the network; 0: none", 0, 0.999999},

      {"shift", "Augmentation", Int{4}, "Images are padded by so many pixels and cropped at random", 0, 512},
      {"padding", "Augmentation", Text("zero"), "What they are padded with", 0, 0, {"zero", "reflect"}},
      {"flip",
       "Augmentation",
       Text("auto"),
       "Mirror images at random; auto: unless mirrored ones mean something else",
       0,
       0,
       {"auto", "random", "alternate", "none"}},

      {"eval-every", "Measuring", Int{1}, "Measure accuracy every so many epochs, and after the last", 1, 1e6},
      {"test-flip", "Measuring", false, "Predict by the mean over an image and its mirror image"},
      {"checkpoint-every", "Measuring", Text("5m"), "Also save inside an epoch, after 30s, 5m, 1h"},

      {"device", "Machine", Text("auto"), "What to compute on", 0, 0, {"auto", "cpu", "cuda"}},
      {"precision",
       "Machine",
       Text("auto"),
       "What convolutions compute in; auto: bf16 where the device does it natively",
       0,
       0,
       {"auto", "fp32", "bf16"}},
      {"threads", "Machine", Int{0}, "Threads that compute; 0 is one a core", 0, 4096},
      {"workers", "Machine", Int{1}, "Threads that prepare batches beside them", 1, 256},
  };
}

std::vector<SettingInfo> all_settings() {
  std::vector<SettingInfo> all = common_settings();
  for (const MethodInfo& method : methods()) all.insert(all.end(), method.settings.begin(), method.settings.end());
  return all;
}

Settings default_settings(const MethodInfo& method, const Recipe& recipe) {
  std::vector<SettingInfo> declared = common_settings();
  declared.insert(declared.end(), method.settings.begin(), method.settings.end());
  Settings settings(declared);
  for (const auto& [name, value] : method.defaults) settings.set(name, value, fmt::format("method {}", method.name));
  for (const auto& [name, value] : recipe.values) settings.set(name, value, fmt::format("recipe {}", recipe.name));
  for (const MethodInfo::RecipeValues& own : method.recipes)
    if (own.recipe == recipe.name)
      for (const auto& [name, value] : own.values)
        settings.set(name, value, fmt::format("method {}, recipe {}", method.name, recipe.name));
  return settings;
}

Settings resolve_settings(const std::vector<std::vector<GivenValue>>& layers) {
  const MethodInfo& method = method_named(chosen(layers, "method"));
  Settings settings = default_settings(method, recipe_named(chosen(layers, "recipe")));
  for (const auto& layer : layers) {
    for (const GivenValue& given : layer) {
      if (given.optional && means_another(given.name, layer, method)) continue;
      if (!settings.declared(given.name)) {
        const auto owners = owners_of(given.name);
        if (!owners.empty() && given.optional) continue;
        if (!owners.empty())
          throw UserError(fmt::format("{}: belongs to the method{} {}, and the method is {}", given.source,
                                      owners.size() > 1 ? "s" : "", fmt::join(owners, " and "), method.name));
      }
      set_given(settings, given);
    }
  }
  return settings;
}

std::vector<GivenValue> preset_values(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) {
      auto values = parse_config(preset.text, fmt::format("preset {}", name));
      for (GivenValue& value : values) value.optional = true;
      return values;
    }
    names.push_back(preset.name);
  }
  throw UserError(fmt::format("unknown preset '{}'; known: {}", name, fmt::join(names, ", ")));
}

Settings run_settings(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<GivenValue> given;
  for (const auto& [name, text] : values)
    given.push_back({.name = name, .value = text, .source = name, .is_typed = true});
  return resolve_settings({given});
}

}  // namespace regroup
