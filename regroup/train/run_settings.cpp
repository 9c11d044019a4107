#include "regroup/train/run_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/nn/network.h"
#include "regroup/train/init_weights.h"

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

constexpr std::string_view auto_recipe = "auto";

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names{auto_recipe};
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

/// The recipe of a run. `auto` stands for that of image files of one's own, unless a preset says how to train; for the
/// paper's otherwise.
const Recipe& recipe_of(const std::vector<std::vector<GivenValue>>& layers) {
  const std::string name = chosen(layers, "recipe");
  if (name != auto_recipe) return recipe_named(name);
  const bool has_preset = std::ranges::any_of(
      layers, [](const auto& layer) { return std::ranges::any_of(layer, [](const auto& g) { return g.optional; }); });
  const std::string data = chosen(layers, "data");
  if (data.starts_with("features:")) return recipe_named("features");
  const bool own_files = data.starts_with("folder:") || data.starts_with("csv:");
  if (has_preset || !own_files) return recipe_named("paper");
  return recipe_named(chosen(layers, "init-weights").empty() ? "photos" : "finetune");
}

/// The network that a file of weights says it is for, where nobody else says which.
std::optional<std::string> model_of_weights(const std::vector<std::vector<GivenValue>>& layers) {
  for (const auto& layer : layers)
    if (std::ranges::any_of(layer, [](const GivenValue& given) { return given.name == "model"; })) return std::nullopt;
  const std::string weights = chosen(layers, "init-weights");
  if (weights.empty()) return std::nullopt;
  try {
    const auto card = init_weights_card(weights);
    return card ? std::optional(card->model) : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;  // told when the weights are needed, which they are not by a run that is resumed
  }
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
      {"data", "Data", Text("fashion-mnist"), "Dataset: a name, folder:PATH, csv:FILE or features:PATH"},
      {"data-dir", "Data", Text(), "Folder of the dataset; empty: where its package puts it"},
      {"labels", "Data", Text(),
       "File of labels to use instead of the dataset's: CSV of index,label[,clean] or path,label[,clean], one label "
       "per line, or NPY"},
      {"noise", "Data", Text("none"), "Makes labels wrong on purpose: KIND:RATE; regroup noise --help lists the kinds"},
      {"trusted", "Data", Text(),
       "File of images (index or path per line) whose labels are known to be right; they always have full weight"},
      {"val-split", "Data", 0.1,
       "Share of the training images that is put aside for validation, where the data has no validation part", 0, 0.9},
      {"test-split", "Data", 0.1,
       "Share of the images that is put aside for testing, where a folder or CSV file has no test part", 0, 0.9},
      {"limit", "Data", Int{0}, "Number of training images to use, the same share of each label; 0: all", 0, big},
      {"image-size", "Data", Int{0},
       "Height and width in pixels of what networks get of image files; 0: the size of most of them, but at most 96 "
       "for "
       "the network fast and 224 for others",
       0, 4096},
      {"resize", "Data", Int{0},
       "Shorter side in pixels that image files are scaled to before crops are taken; 0: image-size where crop is "
       "shift, "
       "else 8/7 of it",
       0, 4096},
      {"normalisation",
       "Data",
       Text("auto"),
       "Mean and deviation that images are normalised by; auto: those that the file of init-weights names or else "
       "ImageNet's; measured where there is no such file",
       0,
       0,
       {"auto", "measured", "imagenet"}},
      {"on-bad-image",
       "Data",
       Text("skip"),
       "What to do about an image file that cannot be read: name it and leave it out, or stop with an error",
       0,
       0,
       {"skip", "refuse"}},

      {"method", "Training", Text("rml"),
       "How to learn from labels that are partly wrong; the methods are listed below", 0, 0, method_names()},
      {"recipe", "Training", Text(auto_recipe),
       "Set of defaults for how the network is optimised; auto: photos for your own image files (finetune with "
       "init-weights), features for vectors, else paper",
       0, 0, recipe_names()},
      {"budget", "Training", Text("none"),
       "Time that a run may take, such as 20m or 2h; decides epochs and image-size where they are 0, by the speed of "
       "this "
       "machine"},
      {"model", "Training", Text("resnet18"), "Network to train", 0, 0, model_names()},
      {"width", "Training", Int{0}, "Channels of the network's first block; 0: as many as the network usually has", 0,
       1024},
      {"init-weights", "Training", Text(),
       "Safetensors file of weights to start from, also torchvision's or timm's; layers that do not fit start at "
       "random"},
      {"freeze-epochs", "Training", Int{0},
       "Epochs at the beginning in which only the classifier learns, and what init-weights loaded stays, batch "
       "statistics too",
       0, 1e6},
      {"init-rate", "Training", 1.0, "Learning rate of what init-weights loaded, as a share of that of the classifier",
       0, 1},
      {"init-statistics",
       "Training",
       Text("follow"),
       "Batch statistics of a loaded network: they follow those of the batches, or are kept, which suits short runs",
       0,
       0,
       {"follow", "keep"}},
      {"seed", "Training", Int{1}, "Seed of all random numbers: the same seed gives the same run", 0, 9e15},
      {"epochs", "Training", Int{200}, "Passes over the training data; 0: as many as the budget allows", 0, 1e6},
      {"epoch-batches", "Training", Int{0},
       "Batches per epoch, of images that are drawn anew for each epoch; 0: every image has its turn in every epoch", 0,
       big},
      {"epoch-balance", "Training", false,
       "Draw the same number of images of each label, where epoch-batches is above 0"},
      {"batch-size", "Training", Int{128}, "Images per step", 2, 65536},
      {"lr", "Training", 0.1, "Highest learning rate", 1e-12, 1000},
      {"min-lr", "Training", 1e-4, "Learning rate at the end of the run, with the schedules cosine and linear", 0,
       1000},
      {"schedule",
       "Training",
       Text("cosine"),
       "How the learning rate falls; steps: to a tenth after each of lr-steps; late-linear: from 2/5 of the run on",
       0,
       0,
       {"cosine", "linear", "late-linear", "steps", "constant"}},
      {"lr-steps", "Training", Text("0.5, 0.75"),
       "Shares of the run after which the learning rate falls to a tenth, where schedule is steps"},
      {"lr-rise", "Training", 0.0,
       "Share of the run, at its beginning, in which the learning rate rises to its highest", 0, 0.9},
      {"lr-start", "Training", 0.2,
       "Learning rate at the first step as a share of the highest, where lr-rise is above 0", 0, 1},
      {"optimizer", "Training", Text("sgd"), "What takes the steps", 0, 0, {"sgd", "adam"}},
      {"momentum", "Training", 0.9, "Momentum of SGD, or Adam's beta 1", 0, 0.9999},
      {"nesterov", "Training", false, "Use Nesterov momentum (SGD only)"},
      {"weight-decay", "Training", 5e-4, "Weight decay (L2 penalty)", 0, 1},
      {"label-smoothing", "Training", 0.0, "Share of each label that is spread evenly over all classes", 0, 0.99},
      {"ema", "Training", 0.999,
       "Decay per step of the ema, a running average of the network (the paper's momentum model); 0: none", 0,
       0.999999},

      {"shift", "Augmentation", Int{4}, "Pixels by which images are shifted at random, at most", 0, 512},
      {"padding",
       "Augmentation",
       Text("zero"),
       "What fills the border of shifted images: black, or the image mirrored",
       0,
       0,
       {"zero", "reflect"}},
      {"flip",
       "Augmentation",
       Text("auto"),
       "Mirror images left to right at random, or every second epoch; auto: random, but none for digits",
       0,
       0,
       {"auto", "random", "alternate", "none"}},

      {"crop",
       "Augmentation",
       Text("shift"),
       "How views are cut out of images: the middle shifted at random, any part of that size, or a part of random size "
       "and shape that is scaled",
       0,
       0,
       {"shift", "random", "resized"}},
      {"crop-area", "Augmentation", 0.08, "Smallest part of an image's area that a resized crop shows", 0.01, 1},
      {"jitter", "Augmentation", 0.0,
       "Strength of colour jitter: brightness, contrast and saturation change by at most this share", 0, 1},
      {"randaugment", "Augmentation", Int{0}, "Operations of RandAugment per view; 0: none", 0, 14},
      {"randaugment-strength", "Augmentation", 0.3, "Strength of the operations of RandAugment", 0, 1},
      {"cutout", "Augmentation", 0.0, "Side of the square that is blotted out of each view, as a share of the image's",
       0, 1},

      {"eval-every", "Measuring", Int{1},
       "Epochs from one measurement of accuracy to the next; the last epoch is always measured", 1, 1e6},
      {"top5", "Measuring", false,
       "Report beside the accuracy how often the true label is among the five likeliest classes; for more than five "
       "classes"},
      {"test-flip", "Measuring", false, "Average predictions over an image and its mirror image"},
      {"checkpoint-every", "Measuring", Text("5m"),
       "Time from one checkpoint to the next inside an epoch, such as 30s, 5m or 1h; every epoch ends with one"},

      {"device",
       "Machine",
       Text("auto"),
       "Device to compute on; auto: a GPU if there is one",
       0,
       0,
       {"auto", "cpu", "cuda"}},
      {"precision",
       "Machine",
       Text("auto"),
       "Number format of convolutions, and of products with vectors while training on a CPU; auto: bf16 where the "
       "device "
       "has it in hardware",
       0,
       0,
       {"auto", "fp32", "bf16"}},
      {"threads", "Machine", Int{0}, "Threads that compute; 0: one per core", 0, 4096},
      {"workers", "Machine", Int{0},
       "Threads that prepare batches, beside those that compute; 0: one, or one per core where images are decoded from "
       "disk",
       0, 256},
      {"keep-images",
       "Machine",
       Text("auto"),
       "Keep decoded image files in memory, or decode them from disk in each epoch; auto: in memory if they take at "
       "most "
       "half of it",
       0,
       0,
       {"auto", "memory", "disk"}},
      {"vector-memory", "Machine", 0.0,
       "Gigabytes of memory that vectors may take; of more, each epoch reads them part by part; 0: half of the memory",
       0, 1e6},
      {"cache", "Machine", Text(), "Folder that keeps decoded image files on disk, for runs to share; empty: none"},
      {"cache-size", "Machine", Int{20}, "Gigabytes that the cache may hold", 1, 1e6},
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
  const Recipe& recipe = recipe_of(layers);
  Settings settings = default_settings(method, recipe);
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
  settings.set("recipe", std::string(recipe.name), "recipe");
  if (const auto model = model_of_weights(layers)) settings.set("model", *model, settings.text("init-weights"));
  return settings;
}

Settings run_settings(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<GivenValue> given;
  for (const auto& [name, text] : values)
    given.push_back({.name = name, .value = text, .source = name, .is_typed = true});
  return resolve_settings({given});
}

}  // namespace regroup
