#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "regroup/rml/class_index.h"
#include "regroup/rml/class_sampler.h"
#include "regroup/rml/selection.h"
#include "regroup/stats/noise_rate.h"

namespace regroup {

/// k: how many samples of its class each of the n groups of an estimate has.
struct DrawSize {
  enum class Kind {
    automatic,  ///< by the noise rate that the epochs so far have shown (see draw_size.h)
    per_group,  ///< k itself, or what the class has for it: floor(m / n)
    share,      ///< this share of the class in all groups together
  };
  Kind kind = Kind::automatic;
  double value = 0;

  static DrawSize automatic() { return {}; }
  static DrawSize per_group(int k) { return {Kind::per_group, static_cast<double>(k)}; }
  static DrawSize share(double of_class) { return {Kind::share, of_class}; }
};

/// What is made of the drawn losses.
enum class Centre {
  median_of_means,  ///< the method: the median of the group means and the sample's own loss
  mean,             ///< the ablation without median: the mean of all drawn losses
  mean_of_medians,  ///< the variant that the paper rejects: the mean of the groups' medians
};

struct RegroupOptions {
  int groups = 6;  ///< n, even
  DrawSize draw;
  SelectionOptions selection;
  Centre centre = Centre::median_of_means;
  std::uint64_t seed = 0;
  DrawAlgorithm algorithm = DrawAlgorithm::automatic;
};

/// What one pass over the losses decided.
struct RegroupReport {
  // Where k is automatic:
  std::optional<double> noise_rate;  ///< of this epoch
  double settled_noise_rate = 0;     ///< as all epochs so far show it: what k was chosen by
  std::vector<int> per_group;        ///< k of each class; 0 where there is nothing to draw
};

/// The Regroup Median Loss of every sample, steps 2 to 6 of the method: a robust estimate of the loss from the recorded
/// losses of the samples with the same label.
///
///     RegroupMedian rml(ClassIndex(labels, 10), {.draw = DrawSize::per_group(200), .seed = 7});
///     rml.weights(book.losses(), epoch, weights);  // in the next epoch the loss of sample i is weights[i] times its
///     loss
///
/// The same numbers come out on any number of threads, and for a part of the samples as for all of them. The epochs
/// before matter only where k is automatic.
class RegroupMedian {
 public:
  /// Throws UserError where an option is out of its bounds.
  RegroupMedian(ClassIndex classes, RegroupOptions options, int threads = 1);

  /// Step 5, Eq. 4: out[i] = median(w_1, ..., w_n, losses[i]), each sample with its own draw, anew each epoch. `losses`
  /// has one value per sample, LossBook::unrecorded where there is none. Where there is nothing to draw (fewer than n
  /// recorded samples in the class) or no loss, the loss itself comes back. Throws UserError that names the sample
  /// where a loss is negative or not finite.
  RegroupReport estimates(std::span<const float> losses, std::uint32_t epoch, std::span<float> out);

  /// Step 6: out[i] = min(1, estimate / loss), and 1 where the loss is 0 or was not recorded.
  RegroupReport weights(std::span<const float> losses, std::uint32_t epoch, std::span<float> out);

  /// The same where only some samples are asked for: out[i] belongs to samples[i].
  RegroupReport weights(std::span<const float> losses, std::uint32_t epoch, std::span<const std::uint32_t> samples,
                        std::span<float> out);

  const ClassIndex& classes() const { return classes_; }

  /// Where k is automatic: the noise rate of each epoch, not a number for an epoch without any. Whoever knows it from
  /// more than losses sets it before the weights of the epoch are asked for; otherwise it is estimated from the losses.
  /// Labels do not change, but what a network tells about them does: one that has memorised wrong labels believes
  /// them. So k follows the median over the epochs so far. Whoever stops and resumes keeps these.
  std::vector<float>& noise_rates() { return noise_rates_; }

 private:
  struct Tables;
  Tables make_tables(std::span<const float> losses, std::uint32_t epoch);
  double settled_noise_rate(std::uint32_t epoch) const;
  void for_each_estimate(const Tables& tables, std::span<const float> losses, std::uint32_t epoch,
                         std::span<const std::uint32_t> samples,
                         const std::function<void(std::size_t i, double estimate)>& use) const;

  ClassIndex classes_;
  RegroupOptions options_;
  int threads_;
  std::vector<float> noise_rates_;
};

}  // namespace regroup
