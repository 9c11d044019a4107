#include "regroup/nn/weights.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "nn/nn_testing.h"
#include "regroup/io/safetensors.h"
#include "support/data_testing.h"

namespace regroup {
namespace {

const NetworkShape small{.base_width = 8};

/// Whether two tensors have the same type, shape and bits.
bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && at::equal(a.detach(), b.detach());
}

TEST(Weights, ANetworkComesBackBitForBit) {
  const TemporaryFolder folder;
  const auto network = make_network("resnet18", small, 1), other = make_network("resnet18", small, 2);
  network->forward(normal_tensor({2, 3, 32, 32}, 1));  // statistics that are not those of a new network
  const auto tensors = tensors_of(*network), filled = tensors_of(*other);
  EXPECT_EQ(tensors.size(), network->parameters().size() + network->buffers().size());
  save_tensors(folder.path() / "x", tensors, {{"model", "resnet18"}});
  load_tensors(folder.path() / "x", filled);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(same(tensors[i].tensor, filled[i].tensor)) << tensors[i].name;
    EXPECT_EQ(tensors[i].tensor.strides(), filled[i].tensor.strides()) << tensors[i].name;
    EXPECT_EQ(tensors[i].tensor.requires_grad(), filled[i].tensor.requires_grad()) << tensors[i].name;
  }
  EXPECT_EQ(SafetensorsFile(folder.path() / "x").metadata().at("model"), "resnet18");
  const at::Tensor images = normal_tensor({2, 3, 32, 32}, 2);
  network->training = other->training = false;
  EXPECT_TRUE(at::equal(network->forward(images).logits, other->forward(images).logits));
}

TEST(Weights, TensorsOfEveryTypeAndLayoutComeBack) {
  const TemporaryFolder folder;
  const at::Tensor values = 100 * normal_tensor({3, 4}, 1).abs();
  for (const auto type : {at::kFloat, at::kDouble, at::kLong, at::kInt, at::kByte, at::kBFloat16}) {
    // Neither dense nor in the order of memory.
    const at::Tensor tensor = values.to(type).t().slice(0, 1, 4, 2), filled = at::zeros({4, 2}, type).t();
    save_tensors(folder.path() / "x", {{"a", tensor}, {"b", at::zeros({0}, type)}, {"c", tensor[0][0]}});
    const at::Tensor one = at::zeros({}, type);
    load_tensors(folder.path() / "x", {{"c", one}, {"a", filled.slice(1, 0, 3)}});
    EXPECT_TRUE(same(filled.slice(1, 0, 3), tensor)) << type;
    EXPECT_TRUE(same(one, tensor[0][0])) << type;
    EXPECT_TRUE((filled.slice(1, 3) == 0).all().item<bool>()) << type;
  }
  EXPECT_THROW(save_tensors(folder.path() / "y", {{"a", values.to(at::kHalf)}}), std::logic_error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "y"));
}

TEST(Weights, ALineNamesTheTensorThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  save_tensors(file, {{"first", at::ones({2, 3})}, {"single", at::ones({})}});
  const auto error = [&](const NamedTensor& tensor) {
    const at::Tensor before = tensor.tensor.clone();
    const std::string sentence = user_error([&] { load_tensors(file, {tensor}); });
    EXPECT_TRUE(same(tensor.tensor, before));
    return sentence;
  };
  const std::string start = file.string() + ": ", end = "; the file belongs to another network or run";
  EXPECT_EQ(error({"second", at::zeros({2, 3})}), start + "there is no tensor 'second'" + end);
  EXPECT_EQ(error({"first", at::zeros({3, 2})}), start + "tensor 'first' is F32 [2, 3], not F32 [3, 2]" + end);
  EXPECT_EQ(error({"first", at::zeros({6})}), start + "tensor 'first' is F32 [2, 3], not F32 [6]" + end);
  EXPECT_EQ(error({"first", at::zeros({2, 3}, at::kInt)}),
            start + "tensor 'first' is F32 [2, 3], not I32 [2, 3]" + end);
  EXPECT_EQ(error({"single", at::zeros({1})}), start + "tensor 'single' is F32 [], not F32 [1]" + end);
}

TEST(Weights, AVectorThatGrowsMayBeShorterInTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "state.safetensors";
  save_tensors(file, {{"rates", at::tensor({0.1F, 0.2F})}});
  const at::Tensor longer = at::tensor({7.0F, 8.0F, 9.0F}), shorter = at::tensor({7.0F});
  load_tensors(file, {{"rates", longer}}, {"rates"});
  EXPECT_TRUE(at::equal(longer, at::tensor({0.1F, 0.2F, 9.0F})));
  EXPECT_NE(user_error([&] {
              load_tensors(file, {{"rates", longer}});
            }).find("tensor 'rates' is F32 [2], not F32 [3]"),
            std::string::npos);
  EXPECT_NE(user_error([&] {
              load_tensors(file, {{"rates", shorter}}, {"rates"});
            }).find("is F32 [2], not F32 [1]"),
            std::string::npos);
}

TEST(Weights, ANetworkForOtherClassesKeepsItsClassifier) {
  const TemporaryFolder folder;
  const auto network = make_network("resnet18", small, 1);
  NetworkShape wider = small;
  wider.classes = 11;
  const auto other = make_network("resnet18", wider, 2), untouched = make_network("resnet18", wider, 2);
  const auto tensors = tensors_of(*network), filled = tensors_of(*other), before = tensors_of(*untouched);
  save_tensors(folder.path() / "x", tensors);
  const Fit fit = load_fitting_tensors(folder.path() / "x", filled);
  EXPECT_EQ(fit.loaded.size(), filled.size() - 2);
  EXPECT_TRUE(fit.missing.empty() && fit.unused.empty());
  ASSERT_EQ(fit.misfits.size(), 2U);
  EXPECT_EQ(fit.misfits[0].name, "fc.weight");
  EXPECT_EQ(fit.misfits[0].in_file, (std::vector<std::int64_t>{10, 64}));
  EXPECT_EQ(fit.misfits[0].wanted, (std::vector<std::int64_t>{11, 64}));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool classifier = tensors[i].name.starts_with("fc");
    EXPECT_TRUE(same(filled[i].tensor, (classifier ? before : tensors)[i].tensor)) << tensors[i].name;
  }
  EXPECT_EQ(load_fitting_tensors(folder.path() / "x", tensors_of(*network)).loaded.size(), tensors.size());
}

TEST(Weights, FilesOfOtherProgramsAreTakenAsTheyAre) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  const at::Tensor values = normal_tensor({2, 3}, 1);
  // Of every floating type, with PyTorch's prefix, without counts of batches, and with something beside them.
  const at::Tensor half = values.to(at::kHalf).contiguous();
  const at::Tensor twice = values.to(at::kDouble), rounded = values.to(at::kBFloat16);
  const auto bytes = [](const at::Tensor& t) {
    return std::span(static_cast<const std::byte*>(t.data_ptr()), t.nbytes());
  };
  const std::vector<TensorBytes> tensors = {{"module.a", "F16", {2, 3}, bytes(half)},
                                            {"module.b", "F64", {2, 3}, bytes(twice)},
                                            {"c", "BF16", {2, 3}, bytes(rounded)},
                                            {"more", "F32", {2, 3}, bytes(values)}};
  write_safetensors(file, tensors, {});
  const std::vector<NamedTensor> wanted = {{"a", at::zeros({2, 3})},
                                           {"b", at::zeros({2, 3})},
                                           {"c", at::zeros({2, 3})},
                                           {"d", at::zeros({2, 3})},
                                           {"bn.num_batches_tracked", at::zeros({}, at::kLong)}};
  const Fit fit = load_fitting_tensors(file, wanted);
  EXPECT_EQ(fit.loaded, (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(fit.missing, (std::vector<std::string>{"d"}));
  EXPECT_EQ(fit.unused, (std::vector<std::string>{"more"}));
  EXPECT_TRUE(at::equal(wanted[0].tensor, half.to(at::kFloat)));
  EXPECT_TRUE(at::equal(wanted[1].tensor, values));
  EXPECT_TRUE(at::equal(wanted[2].tensor, rounded.to(at::kFloat)));
}

TEST(Weights, WhatIsNotFiniteIsNotLoaded) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  save_tensors(file, {{"a", at::full({2}, INFINITY)}});
  EXPECT_EQ(user_error([&] {
              load_fitting_tensors(file, {{"a", at::zeros({2})}});
            }),
            file.string() + ": tensor 'a' has numbers that are not finite; fetch or convert the file again");
}

TEST(Weights, AFileOfWhichNothingFitsIsAnError) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x";
  save_tensors(file, {{"a", at::ones({2})}, {"other.b", at::ones({3})}});
  EXPECT_EQ(user_error([&] {
              load_fitting_tensors(file, {{"a", at::zeros({3})}, {"b", at::zeros({3})}});
            }),
            file.string() + ": none of its 2 tensors fits the network; it belongs to another one");
}

}  // namespace
}  // namespace regroup
