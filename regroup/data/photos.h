#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "regroup/data/image_cache.h"
#include "regroup/data/photo.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// What image files become.
struct PhotoForm {
  int side = 0;        ///< of the square that networks get
  int short_side = 0;  ///< that photos are scaled to; at least `side`
  bool whole = false;  ///< whether more is kept of a photo than the square in its middle

  SampleShape shape() const { return {3, side, side}; }
};

/// Reads image files in one form. May be used by several threads at once.
class PhotoReader {
 public:
  /// Paths will be relative to `root`. `cache` may be null.
  PhotoReader(std::filesystem::path root, PhotoForm form, std::shared_ptr<ImageCache> cache = nullptr);

  const PhotoForm& form() const { return form_; }

  /// Throws UserError where the file cannot be read.
  void read(const std::string& path, PhotoScratch& scratch, Image& image) const;

 private:
  std::filesystem::path root_;
  PhotoForm form_;
  std::shared_ptr<ImageCache> cache_;
};

/// A hash of a list of image files and of their sizes on disk.
std::uint64_t digest_of_files(const std::filesystem::path& root, const std::vector<std::string>& paths);

/// Photos that were read, each of its own size.
class PhotosInMemory final : public SampleSource {
 public:
  PhotosInMemory(SampleShape shape, std::vector<Image> images, std::uint64_t digest);

  SampleShape shape() const override { return shape_; }
  std::size_t size() const override { return images_.size(); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override;
  std::uint64_t digest(std::uint64_t before = hash_start) const override;

 private:
  SampleShape shape_;
  std::vector<Image> images_;
  std::uint64_t digest_;
};

/// Photos that are decoded each time that they are read: as many as the disk holds.
class PhotosOnDisk final : public SampleSource {
 public:
  /// Called once for each file that cannot be read, on any thread. Where it is empty, such a file is a UserError.
  using Warn = std::function<void(const std::string& sentence)>;

  PhotosOnDisk(PhotoReader reader, std::vector<std::string> paths, std::uint64_t digest, Warn skip = {});

  SampleShape shape() const override { return reader_.form().shape(); }
  std::size_t size() const override { return paths_.size(); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override;
  bool decodes() const override { return true; }
  std::uint64_t digest(std::uint64_t before = hash_start) const override;

  /// The samples that could not be read so far, sorted.
  std::vector<std::uint32_t> unreadable() const;

 private:
  PhotoReader reader_;
  std::vector<std::string> paths_;
  std::uint64_t digest_;
  Warn skip_;
  mutable std::mutex mutex_;
  mutable std::set<std::uint32_t> told_;
};

}  // namespace regroup
