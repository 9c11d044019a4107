#include "regroup/nn/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nn/nn_testing.h"
#include "support/user_error.h"

namespace regroup {
namespace {

/// A network whose weights are not drawn, which takes longer than all else here.
std::unique_ptr<Network> without_weights(std::string_view name, NetworkShape shape) {
  for (const NetworkInfo& info : networks()) {
    if (info.name != name) continue;
    if (shape.base_width == 0) shape.base_width = info.default_width;
    return info.make(shape);
  }
  throw std::logic_error("no such network");
}

std::int64_t parameter_count(const Network& network) {
  std::int64_t count = 0;
  for (const Parameter& parameter : network.parameters()) count += parameter.tensor.numel();
  return count;
}

TEST(Network, HasAsManyParametersAsPublished) {
  EXPECT_EQ(parameter_count(*without_weights("resnet18", {.classes = 10})), 11'173'962);
  EXPECT_EQ(parameter_count(*without_weights("resnet34", {.classes = 100})), 21'328'292);
  EXPECT_EQ(parameter_count(*without_weights("resnet50", {.height = 224, .width = 224, .classes = 1000})), 25'557'032);
  EXPECT_EQ(parameter_count(*without_weights("resnet18-imagenet", {.height = 224, .width = 224, .classes = 1000})),
            11'689'512);
  EXPECT_EQ(parameter_count(*without_weights("resnet34-imagenet", {.height = 224, .width = 224, .classes = 1000})),
            21'797'672);
  EXPECT_EQ(parameter_count(*without_weights("efficientnet-lite0", {.height = 224, .width = 224, .classes = 1000})),
            4'652'008);
  // ResNet-18 without the normalisations after the shortcuts (1792), and with those before the first convolution of a
  // stage for half the channels (896 fewer).
  EXPECT_EQ(parameter_count(*without_weights("preact-resnet18", {.classes = 10})), 11'171'274);
}

TEST(Network, CountsMultiplyAddsAsPublished) {
  const double small = without_weights("resnet18", {})->multiply_adds;
  // The stem, stage 1, then three stages whose first convolution and shortcut halve the image; 64 channels at 32x32 are
  // 512 at 4x4.
  const double full = 9.0 * 64 * 64 * 32 * 32;
  EXPECT_EQ(small, 9.0 * 3 * 64 * 32 * 32 + 4 * full + 3 * (3.5 * full + full / 18) + 512 * 10);
  EXPECT_NEAR(small, 555e6, 2e6);
  EXPECT_NEAR(without_weights("resnet50", {.height = 224, .width = 224, .classes = 1000})->multiply_adds, 4.09e9, 5e6);
  EXPECT_NEAR(without_weights("resnet34", {})->multiply_adds, 1.16e9, 5e6);
  EXPECT_NEAR(without_weights("resnet18-imagenet", {.height = 224, .width = 224, .classes = 1000})->multiply_adds,
              1.814e9, 2e6);
  // Published as 407 million, with what the normalisations multiply.
  EXPECT_NEAR(without_weights("efficientnet-lite0", {.height = 224, .width = 224, .classes = 1000})->multiply_adds,
              385e6, 2e6);
  // The same convolutions, all as wide.
  EXPECT_EQ(without_weights("preact-resnet18", {})->multiply_adds, small);
}

std::vector<std::string> sorted_names(const Network& network) {
  std::vector<std::string> names;
  for (const Parameter& parameter : network.parameters()) names.push_back(parameter.name);
  for (const NamedTensor& buffer : network.buffers()) names.push_back(buffer.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Network, NamesItsTensorsAsTorchvisionDoes) {
  const auto expected = [](const std::vector<int>& blocks, int convolutions) {
    std::vector<std::string> names = {"conv1.weight", "fc.weight", "fc.bias"};
    const auto add_norm = [&](const std::string& norm) {
      for (const std::string part : {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"})
        names.push_back(norm + "." + part);
    };
    add_norm("bn1");
    for (int stage = 1; stage <= 4; ++stage) {
      for (int block = 0; block < blocks[static_cast<std::size_t>(stage - 1)]; ++block) {
        for (int i = 1; i <= convolutions; ++i) {
          names.push_back(fmt::format("layer{}.{}.conv{}.weight", stage, block, i));
          add_norm(fmt::format("layer{}.{}.bn{}", stage, block, i));
        }
      }
      if (stage == 1 && convolutions == 2) continue;  // as wide as the stem
      names.push_back(fmt::format("layer{}.0.downsample.0.weight", stage));
      add_norm(fmt::format("layer{}.0.downsample.1", stage));
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(sorted_names(*without_weights("resnet18", {})), expected({2, 2, 2, 2}, 2));
  EXPECT_EQ(sorted_names(*without_weights("resnet18-imagenet", {})), expected({2, 2, 2, 2}, 2));
  EXPECT_EQ(sorted_names(*without_weights("resnet34-imagenet", {})), expected({3, 4, 6, 3}, 2));
  EXPECT_EQ(sorted_names(*without_weights("resnet34", {})), expected({3, 4, 6, 3}, 2));
  EXPECT_EQ(sorted_names(*without_weights("resnet50", {})), expected({3, 4, 6, 3}, 3));
}

TEST(Network, NamesTheTensorsOfEfficientNetLiteAsTimmDoes) {
  std::vector<std::string> expected = {"conv_stem.weight", "conv_head.weight", "classifier.weight", "classifier.bias"};
  const auto add_norm = [&](const std::string& norm) {
    for (const std::string part : {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"})
      expected.push_back(norm + "." + part);
  };
  add_norm("bn1");
  add_norm("bn2");
  const std::vector<int> blocks = {1, 2, 2, 3, 3, 4, 1};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = fmt::format("blocks.{}.{}", stage, block);
      const auto convolutions = stage == 0 ? std::vector<std::string>{"conv_dw", "conv_pw"}
                                           : std::vector<std::string>{"conv_pw", "conv_dw", "conv_pwl"};
      for (std::size_t i = 0; i < convolutions.size(); ++i) {
        expected.push_back(fmt::format("{}.{}.weight", name, convolutions[i]));
        add_norm(fmt::format("{}.bn{}", name, i + 1));
      }
    }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted_names(*without_weights("efficientnet-lite0", {})), expected);
}

TEST(Network, ThePreActivatedHasTheNamesOfTheOtherWithoutNormalisedShortcuts) {
  auto names = sorted_names(*without_weights("resnet18", {}));
  std::erase_if(names, [](const std::string& name) { return name.find("downsample.1") != std::string::npos; });
  EXPECT_EQ(sorted_names(*without_weights("preact-resnet18", {})), names);
}

/// Numbers in [-0.5, 0.5) by the name of a tensor, as golden.py makes them.
at::Tensor noise(const std::string& name, at::IntArrayRef sizes) {
  std::uint32_t sum = 0;
  for (const char c : name) sum += static_cast<std::uint8_t>(c);
  const at::Tensor tensor = at::empty(sizes, at::kDouble);
  auto* const values = tensor.data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::uint32_t word = static_cast<std::uint32_t>(i) * 2654435761U + sum * 374761393U;
    word = (word ^ word >> 15) * 2246822519U;
    values[i] = (word ^ word >> 13) * 0x1p-32 - 0.5;
  }
  return tensor;
}

void fill(const NamedTensor& tensor) {
  const at::NoGradGuard no_grad;
  const at::Tensor values = noise(tensor.name, tensor.tensor.sizes());
  if (tensor.tensor.dim() > 1) {
    tensor.tensor.copy_(values * std::sqrt(24.0 / static_cast<double>(tensor.tensor[0].numel())));
  } else if (tensor.name.ends_with("weight") || tensor.name.ends_with("running_var")) {
    tensor.tensor.copy_(1 + values);
  } else if (tensor.tensor.is_floating_point()) {
    tensor.tensor.copy_(values);
  }
}

at::Tensor find(const Network& network, const std::string& name) {
  for (const Parameter& parameter : network.parameters())
    if (parameter.name == name) return parameter.tensor;
  for (const NamedTensor& buffer : network.buffers())
    if (buffer.name == name) return buffer.tensor;
  throw std::logic_error("no tensor " + name);
}

void expect_values(const at::Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  const at::Tensor wanted = at::tensor(expected);
  // Of the largest: the smaller are differences of such.
  EXPECT_LE((tensor.detach().to(at::kDouble) - wanted).abs().max().item<double>(),
            tolerance * wanted.abs().max().item<double>())
      << tensor << wanted;
}

TEST(Network, ComputesWhatTorchvisionDivideMixAndTimmCompute) {
  // By golden.py.
  struct Golden {
    std::string name;
    int height, width;
    std::vector<double> evaluated;       ///< the first four logits of the first image
    std::vector<double> trained;         ///< the first four of the last image, with the statistics of the batch
    std::vector<double> gradient_norms;  ///< of the tensors below, for the cross entropy with labels 0, 1, 2, 3
    std::vector<double> running_norms;   ///< of the statistics that follow that batch
    std::vector<std::string> tensors = {"conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.weight",
                                        "fc.bias"};
    std::string norm = "layer4.1.bn2";
  };
  const std::vector<Golden> all = {
      {"resnet18",
       32,
       32,
       {-74.21202, -86.524114, -67.512513, -52.239663},
       {1.0103016, -0.1521888, 1.0609657, -1.758229},
       {4.2021685, 2.1839862, 0.20080362, 0.40852467},
       {5.9323924, 22.522578}},
      {"resnet34",
       28,
       28,
       {-3725.2383, -1634.5521, -1792.4598, -1197.5723},
       {0.33542881, -0.95768643, 0.65883036, -1.7081378},
       {11.275285, 5.1641449, 0.22304887, 0.44392815},
       {5.9349503, 22.497319}},
      {"preact-resnet18",
       33,
       47,
       {82.53137, -425.81815, -390.57937, 81.251967},
       {1.134681, 0.89034534, 0.35732299, -0.85594311},
       {3.1397159, 1.5281296, 0.24670966, 0.37632596},
       {5.972911, 22.62723}},
      {"resnet50",
       64,
       64,
       {-10142.5, -4914.0627, -7101.9513, -2420.2854},
       {-1.0962499, -1.8694977, -0.68328015, 0.4761822},
       {577.20341, 100.50025, 0.42682402, 0.57632366},
       {5.880395, 22.056024}},
      {"resnet18-imagenet",
       64,
       64,
       {-113.91899, -96.887575, -63.607818, -105.28483},
       {0.54266183, -1.3703919, 0.43282325, -2.4326333},
       {21.345121, 4.4906599, 0.29872312, 0.44935041},
       {5.9115449, 22.066767}},
      {"resnet34-imagenet",
       57,
       64,
       {-2240.7978, -241.12163, -2247.7515, -2358.9074},
       {0.33319697, -0.14414806, 1.6175338, -3.4391444},
       {56.382068, 10.6419, 0.33963466, 0.40563535},
       {5.9248188, 22.066062}},
      {"efficientnet-lite0",
       64,
       75,
       {4.795858, 5.4607703, 3.2068466, -4.5487082},
       {0.056471924, 1.2118445, 0.79302889, -0.67215713},
       {57.212648, 16.294717, 0.15328949, 0.41681859},
       {9.0674953, 32.35793},
       {"conv_stem.weight", "blocks.2.0.conv_dw.weight", "blocks.5.3.bn2.weight", "classifier.bias"},
       "blocks.5.3.bn2"},
  };
  for (const Golden& golden : all) {
    SCOPED_TRACE(golden.name);
    const auto network = without_weights(golden.name, {.height = golden.height, .width = golden.width});
    for (const Parameter& parameter : network->parameters()) fill(parameter);
    for (const NamedTensor& buffer : network->buffers()) fill(buffer);
    const at::Tensor images = 4 * noise("images", {4, 3, golden.height, golden.width}).to(at::kFloat);
    {
      const at::NoGradGuard no_grad;
      network->training = false;
      expect_values(network->forward(images).logits[0].slice(0, 0, 4), golden.evaluated, 1e-4);
    }
    network->training = true;
    const at::Tensor logits = network->forward(images).logits;
    expect_values(logits[3].slice(0, 0, 4), golden.trained, 1e-3);
    at::cross_entropy_loss(logits, at::arange(4, at::kLong)).backward();
    std::vector<at::Tensor> norms;
    for (const std::string& name : golden.tensors) norms.push_back(find(*network, name).grad().norm());
    // Single precision through many layers of made-up weights; Winograd's algorithm rounds a little more than the
    // direct one.
    for (std::size_t i = 0; i < norms.size(); ++i)
      EXPECT_NEAR(norms[i].item<double>() / golden.gradient_norms[i], 1, 3e-3) << i;
    expect_values(at::stack({find(*network, golden.norm + ".running_mean").norm(),
                             find(*network, golden.norm + ".running_var").norm()}),
                  golden.running_norms, 1e-5);
    EXPECT_EQ(find(*network, golden.norm + ".num_batches_tracked").item<int>(), 1);
  }
}

TEST(Network, TakesImagesOfAnySize) {
  for (const NetworkInfo& info : networks()) {
    if (info.takes_vectors()) continue;
    for (const auto& [channels, height, width] : {std::tuple{1, 28, 28}, {3, 64, 64}, {3, 33, 47}, {1, 90, 28}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}x{}", info.name, channels, height, width));
      const auto network = make_network(
          info.name, {.channels = channels, .height = height, .width = width, .classes = 7, .base_width = 8}, 1);
      const int features = info.name == "efficientnet-lite0" ? 1280
                           : info.name == "resnet50"         ? 256
                           : info.name == "fast"             ? 32
                                                             : 64;
      for (const bool training : {true, false}) {
        network->training = training;
        const Scores scores = network->forward(normal_tensor({2, channels, height, width}, 1));
        EXPECT_EQ(scores.features.sizes(), at::IntArrayRef({2, features}));
        EXPECT_EQ(scores.logits.sizes(), at::IntArrayRef({2, 7}));
        EXPECT_TRUE(scores.logits.isfinite().all().item<bool>());
      }
    }
  }
}

TEST(Network, LogitsAreTheClassifiersOfTheFeatures) {
  const auto network = make_network("resnet18", {.base_width = 8}, 1);
  const Scores scores = network->forward(normal_tensor({2, 3, 32, 32}, 1));
  EXPECT_LE(difference(at::matmul(scores.features, find(*network, "fc.weight").t()) + find(*network, "fc.bias"),
                       scores.logits),
            1e-5);
}

TEST(Network, DoesNotCareHowTheImagesLieInMemory) {
  const auto network = make_network("resnet18", {.base_width = 8}, 1);
  const at::Tensor images = normal_tensor({4, 3, 32, 32}, 1);
  const at::Tensor logits = network->forward(images).logits;
  EXPECT_LE(difference(network->forward(images.contiguous(at::MemoryFormat::ChannelsLast)).logits, logits), 1e-4);
}

TEST(Network, WidthScalesAllLayers) {
  const auto network = without_weights("resnet18", {.base_width = 20});
  EXPECT_EQ(find(*network, "conv1.weight").sizes(), at::IntArrayRef({20, 3, 3, 3}));
  EXPECT_EQ(find(*network, "layer4.0.conv1.weight").sizes(), at::IntArrayRef({160, 80, 3, 3}));
  EXPECT_EQ(find(*network, "layer4.0.downsample.0.weight").sizes(), at::IntArrayRef({160, 80, 1, 1}));
  EXPECT_EQ(find(*network, "fc.weight").sizes(), at::IntArrayRef({10, 160}));
  const auto bottlenecks = without_weights("resnet50", {.base_width = 20});
  EXPECT_EQ(find(*bottlenecks, "layer1.0.conv3.weight").sizes(), at::IntArrayRef({80, 20, 1, 1}));
  EXPECT_EQ(find(*bottlenecks, "fc.weight").sizes(), at::IntArrayRef({10, 640}));
}

TEST(Network, OnlyTrainingChangesTheStatistics) {
  const auto network = make_network("resnet18", {.base_width = 8}, 1);
  const at::NoGradGuard no_grad;
  network->training = false;
  network->forward(normal_tensor({2, 3, 32, 32}, 1));
  for (const NamedTensor& buffer : network->buffers())
    EXPECT_TRUE((buffer.tensor == (buffer.name.ends_with("var") ? 1 : 0)).all().item<bool>()) << buffer.name;
  network->training = true;
  network->forward(normal_tensor({2, 3, 32, 32}, 1));
  for (const NamedTensor& buffer : network->buffers())
    EXPECT_FALSE((buffer.tensor == (buffer.name.ends_with("var") ? 1 : 0)).all().item<bool>()) << buffer.name;
}

bool same_weights(const Network& a, const Network& b, const std::string& name) {
  return at::equal(find(a, name), find(b, name));
}

TEST(Network, SeedAndMemberDecideTheWeights) {
  const NetworkShape shape{.base_width = 8};
  const auto network = make_network("resnet18", shape, 1), again = make_network("resnet18", shape, 1),
             seed = make_network("resnet18", shape, 2), member = make_network("resnet18", shape, 1, 1);
  for (const Parameter& parameter : network->parameters()) {
    const bool drawn = parameter.tensor.dim() > 1 || parameter.name == "fc.bias";
    EXPECT_TRUE(same_weights(*network, *again, parameter.name)) << parameter.name;
    EXPECT_EQ(same_weights(*network, *seed, parameter.name), !drawn) << parameter.name;
    EXPECT_EQ(same_weights(*network, *member, parameter.name), !drawn) << parameter.name;
  }
  // Layers of the same shape are drawn apart.
  EXPECT_FALSE(at::equal(find(*network, "layer1.0.conv1.weight"), find(*network, "layer1.0.conv2.weight")));
}

TEST(Network, StartsWithWeightsOfTheRightDeviation) {
  const auto network = make_network("resnet50", {.classes = 50, .base_width = 16}, 1);
  for (const Parameter& parameter : network->parameters()) {
    SCOPED_TRACE(parameter.name);
    EXPECT_TRUE(parameter.tensor.requires_grad());
    const at::Tensor values = parameter.tensor.detach().to(at::kDouble);
    const auto count = static_cast<double>(values.numel());
    const double mean = values.mean().item<double>(), square = values.square().mean().item<double>();
    if (values.dim() == 4) {
      const double variance = 2.0 / static_cast<double>(values.size(0) * values.size(2) * values.size(3));
      // Five times the deviation of either: a false alarm once in a million.
      EXPECT_NEAR(mean, 0, 5 * std::sqrt(variance / count));
      EXPECT_NEAR(square / variance, 1, 5 * std::sqrt(2 / count));
    } else if (parameter.name.starts_with("fc")) {
      const double bound = 1 / std::sqrt(512.0);
      EXPECT_LE(values.abs().max().item<double>(), bound);
      EXPECT_NEAR(mean, 0, 5 * bound / std::sqrt(3 * count));
      EXPECT_NEAR(square / (bound * bound / 3), 1, 5 * std::sqrt(0.8 / count));
    } else {
      EXPECT_TRUE((values == (parameter.name.ends_with("weight") ? 1 : 0)).all().item<bool>());
    }
  }
}

TEST(Network, CopiesAllTensors) {
  const NetworkShape shape{.base_width = 8};
  const auto from = make_network("preact-resnet18", shape, 1), to = make_network("preact-resnet18", shape, 2);
  from->forward(normal_tensor({2, 3, 32, 32}, 1));
  copy_tensors(*from, *to);
  for (const std::string& name : sorted_names(*from)) EXPECT_TRUE(same_weights(*from, *to, name)) << name;
}

TEST(Network, AnUnknownNameListsTheKnown) {
  std::vector<std::string_view> names;
  for (const NetworkInfo& info : networks()) names.push_back(info.name);
  EXPECT_EQ(user_error([] { make_network("resnet", {}, 1); }),
            fmt::format("unknown model 'resnet'; known: {}", fmt::join(names, ", ")));
}

TEST(Network, RefusesImagesThatAreTooSmall) {
  EXPECT_EQ(user_error([] { make_network("resnet18", {.height = 27, .width = 40}, 1); }),
            "the images are 40x27; a network needs at least 28x28");
  EXPECT_EQ(user_error([] { make_network("resnet18", {.base_width = 3}, 1); }), "width 3 of resnet18 is below 4");
}

}  // namespace
}  // namespace regroup
