// Photos decoded and augmented for training, beside torchvision's ImageFolder and DataLoader on the same cores.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench.h"
#include "made_photos.h"
#include "pytorch_process.h"
#include "regroup/core/parallel.h"
#include "regroup/data/folder.h"
#include "regroup/data/loader.h"
#include "regroup/data/photos.h"

namespace regroup::bench {
namespace {

namespace fs = std::filesystem;

constexpr int short_side = 256, side = 224, batch_size = 32;
constexpr int rounds = 7;

/// Our way from files to batches of normalised crops: that of a run whose images stay on disk.
class Decoding {
 public:
  Decoding(const std::vector<std::string>& files, int threads)
      : threads_(threads),
        photos_(PhotoReader("", {side, short_side, true}), files, 0),
        augmenter_(photos_, {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}, PixelType::float32, 1) {
    plan_.batch_size = batch_size;
    plan_.views = {{.crop = Crop::resized}};
    for (std::uint32_t i = 0; i < files.size(); ++i) positions_.push_back(i);
    plan_.slots = positions_;
  }

  /// Seconds per photo of an epoch.
  double run() {
    ++plan_.epoch;
    std::size_t images = 0;
    const double all = seconds([&] {
      Loader loader(augmenter_, positions_, plan_, 0, plan_.batches(), threads_);
      while (const Batch* batch = loader.next()) images += batch->slots.size();
    });
    return all / static_cast<double>(images);
  }

 private:
  int threads_;
  PhotosOnDisk photos_;
  Augmenter augmenter_;
  std::vector<std::uint32_t> positions_;
  BatchPlan plan_;
};

void bench_folder(Figures& figures, const fs::path& folder, const std::string& name) {
  constexpr std::size_t most = 1000;  // all of a large folder would take long, and tell no more
  auto files = list_images(folder);
  files.resize(std::min(files.size(), most));
  const auto count = files.size();
  Decoding ours(files, hardware_threads());
  PyTorchProcess torchvision("torchvision_decoding.py");
  torchvision.ask(fmt::format("prepare {} {} {}", folder.string(), side, hardware_threads()));
  double our_time = 0;
  report(figures, "decode_over_torchvision." + name,
         time_ratio(
             rounds,
             [&] {
               torchvision.ask("run 256");  // what its workers prepared while they waited
               return torchvision.ask(fmt::format("run {}", count));
             },
             [&] { return our_time = ours.run(); }));
  report(figures, "photos_per_second." + name, 1 / our_time);
}

}  // namespace

void bench_decode(Figures& figures) {
  const MadeFolder made;
  make_photos(made.path() / "256" / "photos", 300, {256, 341});
  make_photos(made.path() / "1024" / "photos", 100, {768, 1024});
  bench_folder(figures, made.path() / "256", "256");
  bench_folder(figures, made.path() / "1024", "1024");
  if (const char* given = std::getenv("REGROUP_BENCH_PHOTOS")) bench_folder(figures, given, "given");
}

}  // namespace regroup::bench
