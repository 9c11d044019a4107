// opencv_check FOLDER: runs each NAME.onnx with OpenCV on NAME.input.npy; fails where a number is further than 1e-4
// from NAME.logits.npy (of its size, where that is above 1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <opencv2/dnn.hpp>

#include "regroup/io/npy.h"

namespace {

cv::Mat read(const std::filesystem::path& file) {
  const regroup::NpyArray array = regroup::read_npy(file);
  cv::Mat values(std::vector<int>(array.shape.begin(), array.shape.end()), CV_32F);
  std::memcpy(values.data, array.bytes.data(), array.bytes.size());
  return values;
}

double difference(const cv::Mat& logits, const cv::Mat& expected) {
  if (logits.size != expected.size || logits.type() != CV_32F) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < expected.total(); ++i) {
    const double wanted = expected.ptr<float>()[i];
    worst = std::max(worst, std::abs(logits.ptr<float>()[i] - wanted) / std::max(1.0, std::abs(wanted)));
  }
  return worst;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  int files = 0, failed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::filesystem::path file = entry.path();
    if (file.extension() != ".onnx") continue;
    ++files;
    const std::string name = file.stem().string();
    double worst = INFINITY;
    try {
      cv::dnn::Net net = cv::dnn::readNetFromONNX(file.string());
      net.setInput(read(file.replace_extension(".input.npy")));
      worst = difference(net.forward(), read(file.replace_extension("").replace_extension(".logits.npy")));
    } catch (const cv::Exception& error) {
      fmt::print("{}\n", error.what());
    }
    const bool is_good = worst <= 1e-4;
    fmt::print("{}  {:<36} {:.1e}\n", is_good ? "ok    " : "FAILED", name, worst);
    failed += is_good ? 0 : 1;
  }
  fmt::print("{} files, {} failed\n", files, failed);
  return files > 0 && failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
