#include "regroup/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/core/random.h"

namespace regroup {
namespace {

/// So many samples are prepared by one thread at a time: threads share a batch, so that the first one is ready soon.
std::size_t grain_of(const SampleShape& shape) { return shape.is_vector ? 64 : 8; }

/// The key of an order has room for 8 bits of the plan's stream and 24 bits of the number of the order.
constexpr std::uint32_t max_streams = 1U << 8;
constexpr std::size_t max_orders = std::size_t{1} << 24;

/// Which slots are in which batch.
class BatchOrder {
 public:
  BatchOrder(const BatchPlan& plan, std::size_t end)
      : plan_(plan), batch_size_(static_cast<std::size_t>(plan.batch_size)) {
    const std::size_t count = plan.slots.size();
    used_ = plan.shuffle && count >= batch_size_ ? count - count % batch_size_ : count;
    if (plan.shuffle) {
      if (plan.stream >= max_streams) throw std::invalid_argument("the stream of a batch plan is 256 or more");
      if (end > max_orders * used_ / batch_size_)
        throw std::invalid_argument("a batch plan goes round too often in one epoch");
    } else {
      if (end > plan.batches()) throw std::invalid_argument("a batch plan has not so many batches");
      order_ = plan.slots;
    }
  }

  void slots_of(std::size_t batch, std::vector<std::uint32_t>& slots) {
    const std::size_t begin = begin_of(batch);
    const std::size_t end = plan_.shuffle ? begin + batch_size_ : std::min(begin + batch_size_, used_);
    slots.resize(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      if (plan_.shuffle && i / used_ != number_) shuffle(i / used_);
      slots[i - begin] = order_[i % used_];
    }
  }

  /// What tells the views of a sample from those that it had before in this epoch, or has in another plan: the epoch
  /// itself for the first turn in the first plan.
  std::uint32_t views_of(std::size_t batch, std::size_t place) const {
    constexpr std::uint32_t apart = 0x9E3779B1;
    const auto round = static_cast<std::uint32_t>((begin_of(batch) + place) / used_);
    return plan_.epoch + (round << 8 | plan_.stream) * apart;
  }

 private:
  std::size_t begin_of(std::size_t batch) const { return batch * batch_size_; }

  /// From the plan's order on: it does not matter which orders came before.
  void shuffle(std::size_t number) {
    order_ = plan_.slots;
    Stream stream(plan_.seed, Purpose::order, plan_.epoch, static_cast<std::uint32_t>(number) << 8 | plan_.stream);
    if (plan_.window == 0 || plan_.window >= order_.size()) {
      shuffle(order_, stream);
    } else {
      deal_blocks(stream);
      for (std::size_t begin = 0; begin < order_.size(); begin += plan_.window)
        shuffle(std::span(order_).subspan(begin, std::min(plan_.window, order_.size() - begin)), stream);
    }
    number_ = number;
  }

  /// Fisher and Yates.
  template <class T>
  static void shuffle(std::span<T> values, Stream& stream) {
    for (std::size_t left = values.size(); left > 1; --left)
      std::swap(values[left - 1], values[stream.below(static_cast<std::uint32_t>(left))]);
  }
  static void shuffle(std::vector<std::uint32_t>& values, Stream& stream) { shuffle(std::span(values), stream); }

  /// Puts blocks of neighbours in random order, so that a window has samples from many places, and reads few.
  void deal_blocks(Stream& stream) {
    constexpr std::size_t blocks_per_window = 32;
    const std::size_t block = std::max<std::size_t>(plan_.window / blocks_per_window, 1);
    std::vector<std::uint32_t> begins;
    for (std::size_t begin = 0; begin < plan_.slots.size(); begin += block)
      begins.push_back(static_cast<std::uint32_t>(begin));
    shuffle(begins, stream);
    order_.clear();
    for (const std::uint32_t begin : begins) {
      const auto some = std::span(plan_.slots).subspan(begin, std::min(block, plan_.slots.size() - begin));
      order_.insert(order_.end(), some.begin(), some.end());
    }
  }

  const BatchPlan& plan_;
  std::size_t batch_size_;
  std::size_t used_;                                              // samples of an order that are in a batch
  std::size_t number_ = std::numeric_limits<std::size_t>::max();  // of the order in order_: none yet
  std::vector<std::uint32_t> order_;
};

BatchPlan checked(BatchPlan plan, std::size_t first, std::size_t end) {
  if (plan.slots.empty()) throw UserError("there are no samples to make batches of; give at least one");
  if (plan.batch_size < 1 || plan.views.empty() || first > end)
    throw std::invalid_argument("a loader needs batches of at least one sample and view, and an end after the first");
  return plan;
}

}  // namespace

std::size_t BatchPlan::batches() const {
  const auto size = static_cast<std::size_t>(batch_size);
  if (shuffle && slots.size() >= size) return slots.size() / size;
  return slots.size() / size + (slots.size() % size != 0);
}

/// Batches in turn in a ring of places. Threads are handed out some images of the earliest batch that has any left; the
/// state is behind one mutex, the images are not: between handing out and finishing they belong to one thread.
class Loader::Ring {
 public:
  Ring(const Augmenter& augmenter, std::span<const std::uint32_t> positions, BatchPlan plan, std::size_t first,
       std::size_t end, int workers, int ahead, Workers helpers = {})
      : augmenter_(augmenter),
        positions_(positions),
        plan_(checked(std::move(plan), first, end)),
        helpers_(std::move(helpers)),
        workspaces_(helpers_.count),
        grain_(grain_of(augmenter.images().shape())),
        order_(plan_, end),
        ring_(static_cast<std::size_t>(std::max(ahead, 1)) + 1),
        end_(end),
        released_(first),
        handed_out_(first),
        next_(first) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// The threads' own destructors stop and wait for them one by one; this lets them stop at the same time.
  ~Ring() {
    for (auto& thread : threads_) thread.request_stop();
  }

  const Batch* next() {
    if (threads_.empty()) return prepare_next();
    std::unique_lock lock(mutex_);
    if (released_ != next_) {
      released_ = next_;
      room_.notify_all();
    }
    if (next_ == end_) return nullptr;
    const auto is_decided = [&] { return is_ready(next_) || (failure_ && next_ >= failed_); };
    if (!is_decided()) {
      const double start = clock_seconds();
      ready_.wait(lock, is_decided);
      waited_ += clock_seconds() - start;
    }
    if (!is_ready(next_)) std::rethrow_exception(failure_);
    Place& current = place(next_++);
    if (plan_.shuffle) leave_out(current);
    return &current.batch;
  }

  double waited() const { return waited_; }

 private:
  struct Place {
    std::size_t number = 0;
    Batch batch;
    std::size_t unfinished = 0;        // images
    std::vector<std::size_t> missing;  // places of the images that cannot be read
  };

  /// What a thread keeps from image to image.
  struct Workspace {
    Augmenter::Scratch scratch;
    std::vector<std::byte*> out;       // where the views of an image go
    std::vector<std::size_t> missing;  // of the images that it has in work
  };

  Place& place(std::size_t batch) { return ring_[batch % ring_.size()]; }

  bool is_ready(std::size_t batch) { return batch < handed_out_ && place(batch).unfinished == 0; }

  const Batch* prepare_next() {
    if (next_ == end_) return nullptr;
    Place& current = ring_.front();
    make_room(next_, current);
    const std::size_t count = current.batch.slots.size();
    std::mutex mutex;
    std::exception_ptr failure;
    for_each((count + grain_ - 1) / grain_, helpers_, [&](std::size_t some, std::size_t helper) {
      Workspace& workspace = workspaces_[helper];
      workspace.missing.clear();
      try {
        write_images(current, some * grain_, std::min(count, (some + 1) * grain_), workspace);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      if (workspace.missing.empty()) return;
      const std::lock_guard lock(mutex);
      current.missing.insert(current.missing.end(), workspace.missing.begin(), workspace.missing.end());
    });
    if (failure) std::rethrow_exception(failure);
    ++next_;
    if (plan_.shuffle) leave_out(current);
    return &current.batch;
  }

  void work(const std::stop_token& stop) {
    Workspace workspace;
    std::unique_lock lock(mutex_);
    const auto has_work = [&] { return failure_ || handed_out_ == end_ || handed_out_ < released_ + ring_.size(); };
    while (room_.wait(lock, stop, has_work) && !stop.stop_requested() && !failure_ && handed_out_ != end_) {
      const std::size_t batch = handed_out_;
      try {
        prepare_some(lock, workspace);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        // Images are handed out in order: the batches before this one will be finished, so they still come out.
        if (!failure_ || batch < failed_) {
          failure_ = std::current_exception();
          failed_ = batch;
        }
        room_.notify_all();
        ready_.notify_all();
      }
    }
  }

  void prepare_some(std::unique_lock<std::mutex>& lock, Workspace& workspace) {
    Place& current = place(handed_out_);
    if (images_out_ == 0) make_room(handed_out_, current);
    const std::size_t begin = images_out_;
    const std::size_t end = std::min(begin + grain_, current.batch.slots.size());
    images_out_ = end;
    if (end == current.batch.slots.size()) {
      ++handed_out_;
      images_out_ = 0;
    }
    lock.unlock();
    workspace.missing.clear();
    write_images(current, begin, end, workspace);
    lock.lock();
    current.missing.insert(current.missing.end(), workspace.missing.begin(), workspace.missing.end());
    current.unfinished -= end - begin;
    if (current.unfinished == 0) ready_.notify_one();
  }

  void make_room(std::size_t number, Place& place) {
    Batch& batch = place.batch;
    place.number = number;
    order_.slots_of(number, batch.slots);
    batch.views.resize(plan_.views.size());
    for (auto& view : batch.views) view.resize(batch.slots.size() * augmenter_.output_bytes());
    place.unfinished = batch.slots.size();
    place.missing.clear();
  }

  void write_images(Place& place, std::size_t begin, std::size_t end, Workspace& workspace) const {
    Batch& batch = place.batch;
    const std::size_t bytes = augmenter_.output_bytes();
    auto& out = workspace.out;
    out.resize(batch.views.size());
    const auto position = [&](std::size_t i) {
      if (batch.slots[i] >= positions_.size()) throw std::out_of_range("a batch plan names a slot that does not exist");
      return positions_[batch.slots[i]];
    };
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t view = 0; view < out.size(); ++view) out[view] = batch.views[view].data() + i * bytes;
      if (i + 1 < end) augmenter_.images().expect(position(i + 1));
      if (augmenter_.write(position(i), order_.views_of(place.number, i), plan_.views, out, workspace.scratch))
        continue;
      for (std::byte* view : out) std::memset(view, 0, bytes);
      workspace.missing.push_back(i);
    }
  }

  /// Takes the images that cannot be read out of a batch. In a plan that is not shuffled they keep their places, since
  /// whoever asked for it counts on them: every pixel has the mean value there.
  void leave_out(Place& place) const {
    if (place.missing.empty()) return;
    Batch& batch = place.batch;
    const std::size_t bytes = augmenter_.output_bytes();
    std::ranges::sort(place.missing);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < batch.slots.size(); ++i) {
      if (std::ranges::binary_search(place.missing, i)) continue;
      batch.slots[kept] = batch.slots[i];
      for (auto& view : batch.views) std::memmove(&view[kept * bytes], &view[i * bytes], bytes);
      ++kept;
    }
    if (kept == 0) throw UserError("none of the images of a batch can be read; is their folder still there?");
    batch.slots.resize(kept);
    for (auto& view : batch.views) view.resize(kept * bytes);
    place.missing.clear();
  }

  const Augmenter& augmenter_;
  const std::span<const std::uint32_t> positions_;
  const BatchPlan plan_;
  Workers helpers_;  // where there are no threads
  std::vector<Workspace> workspaces_;
  const std::size_t grain_;

  std::mutex mutex_;
  std::condition_variable_any room_;  // for the threads: images to prepare, or none any more
  std::condition_variable ready_;     // for next()
  BatchOrder order_;
  std::vector<Place> ring_;
  const std::size_t end_;
  std::size_t released_;        // batches before this one are no longer in use
  std::size_t handed_out_;      // batches before this one are prepared or in work
  std::size_t images_out_ = 0;  // so many images of batch `handed_out_` are, too
  std::exception_ptr failure_;
  std::size_t failed_ = 0;  // the batch of the failure

  std::size_t next_;
  double waited_ = 0;

  std::vector<std::jthread> threads_;  // last, so that they end before what they use
};

Loader::Loader(const Augmenter& augmenter, std::span<const std::uint32_t> positions, BatchPlan plan, std::size_t first,
               std::size_t end, int workers, int ahead)
    : ring_(std::make_unique<Ring>(augmenter, positions, std::move(plan), first, end, std::max(workers, 1), ahead)) {}

Loader::Loader(const Augmenter& augmenter, std::span<const std::uint32_t> positions, BatchPlan plan, std::size_t first,
               std::size_t end, Workers helpers)
    : ring_(std::make_unique<Ring>(augmenter, positions, std::move(plan), first, end, 0, 0, std::move(helpers))) {}

Loader::~Loader() = default;

const Batch* Loader::next() { return ring_->next(); }

double Loader::waited() const { return ring_->waited(); }

}  // namespace regroup
