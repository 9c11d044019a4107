#pragma once

#include <filesystem>

#include "regroup/data/image.h"

namespace regroup::bench {

/// Writes `count` JPEG files of this size, or turned to the side, into a folder: clouds of all sizes from the whole
/// picture to a few pixels and some grain, which take about as many bytes as photos do.
void make_photos(const std::filesystem::path& folder, int count, ImageSize size);

/// A folder of its own, gone at the end.
class MadeFolder {
 public:
  MadeFolder();
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace regroup::bench
