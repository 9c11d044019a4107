#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "regroup/data/image.h"

namespace regroup {

/// Decoded images in a folder, for runs to share. A file is written aside and then renamed, so that several processes
/// may use the folder at once; what is damaged counts as not there. It never grows beyond its bound, as far as one
/// process can tell, and nothing is thrown out: who wants the room back removes the folder.
class ImageCache {
 public:
  /// Makes the folder where it is missing, and counts what is in it.
  ImageCache(std::filesystem::path folder, double max_bytes);

  /// The name of an image in the cache: of a file as it is now, in one form.
  static std::string key(const std::filesystem::path& file, const std::string& form);

  /// False: it is not there.
  bool read(const std::string& key, Image& image) const;

  /// Does nothing where there is no room, or where it cannot be written: the image can always be decoded again.
  void write(const std::string& key, const Image& image);

 private:
  std::filesystem::path place_of(const std::string& key) const;

  std::filesystem::path folder_;
  double max_bytes_;
  std::atomic<double> bytes_ = 0;
};

}  // namespace regroup
