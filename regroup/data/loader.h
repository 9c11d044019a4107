#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "regroup/core/workers.h"
#include "regroup/data/augment.h"

namespace regroup {

/// Some images, ready for the network. One that cannot be read is left out where the plan is shuffled.
struct Batch {
  std::vector<std::uint32_t> slots;
  std::vector<std::vector<std::byte>> views;  ///< of each view: slots.size() images, channels last; see Augmenter
};

/// The samples of one epoch in random order, `batch_size` at a time; when all had their turn, again in another order.
/// Batch number b is a function of these values and b alone, so that a stopped epoch is resumed anywhere. A sample that
/// has several turns looks different in each.
struct BatchPlan {
  std::vector<std::uint32_t> slots;  ///< numbers of the samples, as the training set counts them
  int batch_size = 128;
  std::vector<Augmentation> views{no_augmentation};  ///< of each image, in this order
  bool shuffle = true;  ///< false: in the order of `slots`, once, the last batch as small as it comes out
  std::uint32_t epoch = 0;
  std::uint32_t stream = 0;  ///< tells several plans of one epoch apart; at most 255
  std::uint64_t seed = 0;
  /// So many samples that lie together have their turn together (SampleSource::window), in random order among
  /// themselves; 0: all.
  std::size_t window = 0;

  /// Batches until every sample had its turn: whole ones when shuffled (the rest of the samples has its turn in another
  /// epoch, since one sample alone has no batch statistics), all otherwise. A shuffled plan of fewer samples than a
  /// batch has one batch, which begins the next order where the first one ends.
  std::size_t batches() const;
};

/// Prepares the next batches, on threads of its own while the network computes.
class Loader {
 public:
  /// Batches `first` .. `end` - 1 of the plan; a shuffled one continues after plan.batches(). `positions` has, of each
  /// slot, the sample's place in the augmenter's source: what is random about a view is the sample's, whatever its
  /// slot. `augmenter` and `positions` must outlive the loader. `ahead` batches are kept ready.
  Loader(const Augmenter& augmenter, std::span<const std::uint32_t> positions, BatchPlan plan, std::size_t first,
         std::size_t end, int workers = 1, int ahead = 3);

  /// The same, with each batch prepared when it is asked for, by `helpers`.
  Loader(const Augmenter& augmenter, std::span<const std::uint32_t> positions, BatchPlan plan, std::size_t first,
         std::size_t end, Workers helpers);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, or null after the last one. It stays valid until the next call; its memory is used again. What
  /// went wrong while a batch was prepared is thrown in its place, again and again.
  const Batch* next();

  /// Seconds that next() has waited so far because no batch was ready.
  double waited() const;

 private:
  class Ring;
  std::unique_ptr<Ring> ring_;
};

}  // namespace regroup
