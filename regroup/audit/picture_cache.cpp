#include "regroup/audit/picture_cache.h"

namespace regroup {

PictureCache::File PictureCache::get(std::uint32_t sample, const std::function<File()>& make) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = by_sample_.find(sample); found != by_sample_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->file;
    }
  }
  File file = make();
  if (file) keep(sample, file);
  return file;
}

void PictureCache::keep(std::uint32_t sample, const File& file) {
  const std::size_t bytes = file->size() + entry_bytes;
  const std::scoped_lock lock(mutex_);
  if (bytes > max_bytes_ || by_sample_.contains(sample)) return;
  entries_.push_front({sample, file});
  by_sample_[sample] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().file->size() + entry_bytes;
    by_sample_.erase(entries_.back().sample);
    entries_.pop_back();
  }
}

std::size_t PictureCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace regroup
