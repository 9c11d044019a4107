// network_logits MODEL WEIGHTS IMAGES LOGITS [PRECISION]: what a network with these weights makes of the tensor
// `images` of one safetensors file, as the tensor `logits` of another. For pretrained_check.py.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>

#include "regroup/io/safetensors.h"
#include "regroup/nn/precision.h"
#include "regroup/nn/weights.h"

int main(int count, char** arguments) try {
  using namespace regroup;
  if (count < 5) return 2;
  const at::NoGradGuard no_grad;
  const SafetensorsFile file(arguments[3]);
  const TensorBytes* const bytes = file.find("images");
  if (bytes == nullptr || bytes->dtype != "F32" || bytes->shape.size() != 4) return 2;
  at::Tensor images = at::empty(bytes->shape, at::kFloat);
  std::memcpy(images.data_ptr(), bytes->bytes.data(), bytes->bytes.size());
  images = images.contiguous(at::MemoryFormat::ChannelsLast);
  const auto size = [&](std::size_t i) { return static_cast<int>(bytes->shape[i]); };
  const auto network = make_network(arguments[1], {size(1), size(2), size(3), 1000}, 1);
  load_tensors(arguments[2], tensors_of(*network));
  network->training = false;
  const Precision precision = choose_precision(count > 5 ? arguments[5] : "fp32", at::kCPU);
  const PrecisionScope scope(precision, at::kCPU);
  if (precision == Precision::bf16) images = images.to(at::kBFloat16);
  save_tensors(arguments[4], {{"logits", network->forward(images).logits}});
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
