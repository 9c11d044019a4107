// export_samples FOLDER: for every network NAME.pt and NAME.onnx, what goes in (NAME.input.npy) and what comes out
// (NAME.logits.npy), for programs that run them without us.
#include <fmt/format.h>

#include <exception>
#include <filesystem>

#include "export/sample_models.h"
#include "regroup/core/file.h"
#include "regroup/export/onnx.h"
#include "regroup/export/torchscript.h"
#include "regroup/io/npy.h"

namespace {

void write(const std::filesystem::path& file, const at::Tensor& tensor) {
  const at::Tensor values = tensor.contiguous();
  const std::vector<std::size_t> shape(values.sizes().begin(), values.sizes().end());
  regroup::write_npy(file, std::span<const float>(values.data_ptr<float>(), static_cast<std::size_t>(values.numel())),
                     shape);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  for (const regroup::SampleModel& sample : regroup::sample_models()) {
    const std::string stem = (std::filesystem::path(arguments[1]) / sample.name).string();
    const regroup::ExportedModel model = regroup::exported_model(sample.trained, true);
    regroup::write_file(stem + ".pt", regroup::torchscript_bytes(model));
    regroup::write_file(stem + ".onnx", regroup::onnx_bytes(model));
    write(stem + ".input.npy", sample.input);
    write(stem + ".logits.npy", sample.logits);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
