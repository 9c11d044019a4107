#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace regroup {

/// Files of pictures that were made when they were asked for, the most recently used ones up to so many bytes. All
/// functions may be called by several threads at the same time.
class PictureCache {
 public:
  using File = std::shared_ptr<const std::string>;

  explicit PictureCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The file of a sample, made by `make` where it is not there. `make` runs without a lock: pictures are made side by
  /// side, and one that is asked for twice meanwhile is made twice. What is null, or is thrown, is not kept.
  File get(std::uint32_t sample, const std::function<File()>& make);

  std::size_t bytes() const;

 private:
  struct Entry {
    std::uint32_t sample = 0;
    File file;
  };

  /// What an entry takes beside its file.
  static constexpr std::size_t entry_bytes = 200;

  void keep(std::uint32_t sample, const File& file);

  std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  ///< the most recently used one first
  std::unordered_map<std::uint32_t, std::list<Entry>::iterator> by_sample_;
};

}  // namespace regroup
