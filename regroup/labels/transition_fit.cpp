#include "regroup/labels/transition_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
namespace regroup {
namespace {

std::size_t cell(int from, int to, int classes) {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(classes) + static_cast<std::size_t>(to);
}

/// How much more counts vary than by chance: 0 not at all, 1 as much as they can. With total N and probability p the
/// variance of a count is N p (1 - p) (1 + (N - 1) rho).
class Overdispersion {
 public:
  void add(double count, double total, double probability) {
    if (total <= 1 || probability <= 0 || probability >= 1) return;
    const double difference = count - total * probability;
    squares_ += difference * difference / (total * probability * (1 - probability));
    cells_ += 1;
    weight_ += total - 1;
  }
  /// At most a half, so that the prior is worth a count at least: a class without any has nothing else.
  double rho() const { return weight_ > 0 ? std::clamp((squares_ - cells_) / weight_, 1e-4, 0.5) : 1e-4; }

  /// How many counts the prior is worth.
  double strength() const { return (1 - rho()) / rho(); }

 private:
  double squares_ = 0, cells_ = 0, weight_ = 0;
};

/// softmax(sharpness * row) into `out`.
void sharpened(std::span<const float> row, double sharpness, std::span<double> out) {
  const float top = *std::ranges::max_element(row);
  const auto factor = static_cast<float>(sharpness);
  double sum = 0;
  for (std::size_t y = 0; y < row.size(); ++y) {
    out[y] = static_cast<double>(std::exp(factor * (row[y] - top)));
    sum += out[y];
  }
  for (double& p : out) p /= sum;
}

double mean_log_likelihood(const PredictionRows& rows, const TransitionMatrix& transition, double sharpness) {
  std::vector<double> p(static_cast<std::size_t>(rows.classes));
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sharpened(rows.row(i), sharpness, p);
    double likelihood = 0;
    for (int y = 0; y < rows.classes; ++y) likelihood += p[static_cast<std::size_t>(y)] * transition(y, rows.labels[i]);
    sum += std::log(std::max(likelihood, 1e-300));
  }
  return sum / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
}

/// What decides about the prediction for a sample whose given label is scored higher or lower.
struct LabelView {
  float own = 0, best = 0, next = 0;  ///< the score of the label, and the two best of the others
  std::int32_t label = 0, best_class = 0;

  Clearness lowered_by(float amount) const {
    const float changed = own - amount;
    return changed > best ? Clearness{label, changed - best} : Clearness{best_class, best - std::max(next, changed)};
  }
};

LabelView view_of(std::span<const float> row, std::int32_t label) {
  constexpr float nothing = -3e38F;
  LabelView view{row[static_cast<std::size_t>(label)], nothing, nothing, label, label == 0 ? 1 : 0};
  for (std::size_t y = 0; y < row.size(); ++y) {
    if (y == static_cast<std::size_t>(label)) continue;
    if (row[y] > view.best) {
      view.next = view.best;
      view.best = row[y];
      view.best_class = static_cast<std::int32_t>(y);
    } else {
      view.next = std::max(view.next, row[y]);
    }
  }
  return view;
}

std::vector<LabelView> views_of(const PredictionRows& rows) {
  std::vector<LabelView> views;
  views.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) views.push_back(view_of(rows.row(i), rows.labels[i]));
  return views;
}

/// The matrix that the clearest predictions show, and how often each class is predicted.
struct ClearMatrix {
  TransitionMatrix transition;
  std::vector<double> predicted;  ///< shares
  double clear = 0;               ///< samples

  double rate() const {
    double wrong = 0;
    for (std::size_t y = 0; y < predicted.size(); ++y)
      wrong += predicted[y] * (1 - transition(static_cast<int>(y), static_cast<int>(y)));
    return wrong;
  }
};

ClearMatrix clear_matrix(std::span<const LabelView> views, int classes, float lowered_by,
                         const TransitionOptions& options) {
  const auto width = static_cast<std::size_t>(classes);
  std::vector<Clearness> samples;
  samples.reserve(views.size());
  std::vector<double> counts(width * width), predicted(width);
  for (const LabelView& view : views) {
    samples.push_back(view.lowered_by(lowered_by));
    predicted[static_cast<std::size_t>(samples.back().predicted)] += 1 / static_cast<double>(views.size());
  }
  const std::vector<std::uint32_t> clear = most_confident(samples, classes, options.clear, options.least_clear);
  for (const std::uint32_t i : clear) ++counts[cell(samples[i].predicted, views[i].label, classes)];
  return {shrunk_transition(counts, classes), std::move(predicted), static_cast<double>(clear.size())};
}

/// Draws the share of right labels of each class towards that of all, by the part that leads from what is predicted to
/// the labels that are there, as nearly as it can: sum over y of predicted(y) T(y, o) = share(o).
void fit_to_labels(ClearMatrix& matrix, std::span<const std::int32_t> labels) {
  TransitionMatrix& transition = matrix.transition;
  const int classes = transition.classes();
  std::vector<double> shares(static_cast<std::size_t>(classes));
  for (const std::int32_t label : labels)
    shares[static_cast<std::size_t>(label)] += 1 / static_cast<double>(labels.size());
  const double all = 1 - matrix.rate();
  const auto drawn = [&](int y, int o) {
    const double right = transition(y, y);
    return o == y ? all : right < 1 ? transition(y, o) / (1 - right) * (1 - all) : 0;
  };
  double agree = 0, squares = 0;  // least squares: what is missing, and what the whole way would add
  for (int o = 0; o < classes; ++o) {
    double now = 0, then = 0;
    for (int y = 0; y < classes; ++y) {
      now += matrix.predicted[static_cast<std::size_t>(y)] * transition(y, o);
      then += matrix.predicted[static_cast<std::size_t>(y)] * drawn(y, o);
    }
    const double share = std::max(shares[static_cast<std::size_t>(o)], 1 / static_cast<double>(labels.size()));
    agree += (share - now) * (then - now) / share;
    squares += (then - now) * (then - now) / share;
  }
  const double part = squares > 0 ? std::clamp(agree / squares, 0.0, 1.0) : 0;
  std::vector<double> row(static_cast<std::size_t>(classes));
  for (int y = 0; y < classes; ++y) {
    for (int o = 0; o < classes; ++o)
      row[static_cast<std::size_t>(o)] = (1 - part) * transition(y, o) + part * drawn(y, o);
    for (int o = 0; o < classes; ++o) transition(y, o) = row[static_cast<std::size_t>(o)];
  }
}

/// Multiplies the odds of wrong labels in all classes until the matrix has this rate.
void set_rate(ClearMatrix& matrix, double rate) {
  constexpr int halvings = 60;
  const TransitionMatrix before = matrix.transition;
  double low = -40, high = 40;  // of the factor's logarithm
  for (int i = 0; i < halvings; ++i) {
    const double factor = std::exp((low + high) / 2);
    for (int y = 0; y < before.classes(); ++y) {
      const double right = before(y, y), wrong = 1 - right;
      const double now = factor * wrong / (right + factor * wrong);
      for (int o = 0; o < before.classes(); ++o)
        matrix.transition(y, o) = o == y ? 1 - now : wrong > 0 ? before(y, o) / wrong * now : 0;
    }
    (matrix.rate() < rate ? low : high) = (low + high) / 2;
  }
}

}  // namespace

TransitionMatrix shrunk_transition(const std::vector<double>& counts, int classes) {
  const auto width = static_cast<std::size_t>(classes);
  std::vector<double> total(width), right(width);
  for (int y = 0; y < classes; ++y) {
    const auto row = std::span(counts).subspan(cell(y, 0, classes), width);
    total[static_cast<std::size_t>(y)] = std::accumulate(row.begin(), row.end(), 0.0);
    right[static_cast<std::size_t>(y)] = row[static_cast<std::size_t>(y)];
  }
  const double all = std::accumulate(total.begin(), total.end(), 0.0);
  const double share = (std::accumulate(right.begin(), right.end(), 0.0) + 0.5) / (all + 1);
  const double alike = classes > 2 ? 1.0 / (classes - 1) : 1;
  Overdispersion of_right, of_wrong;
  for (int y = 0; y < classes; ++y) {
    const auto at = static_cast<std::size_t>(y);
    of_right.add(right[at], total[at], share);
    for (int o = 0; o < classes; ++o)
      if (o != y) of_wrong.add(counts[cell(y, o, classes)], total[at] - right[at], alike);
  }
  const double strength = of_right.strength(), wrong_strength = of_wrong.strength();
  TransitionMatrix matrix(classes);
  for (int y = 0; y < classes; ++y) {
    const auto at = static_cast<std::size_t>(y);
    const double keep = (right[at] + strength * share) / (total[at] + strength);
    const double wrong = total[at] - right[at];
    for (int o = 0; o < classes; ++o)
      matrix(y, o) =
          o == y ? keep
                 : (1 - keep) * (counts[cell(y, o, classes)] + wrong_strength * alike) / (wrong + wrong_strength);
  }
  return matrix;
}

Disagreement clear_disagreement(const PredictionRows& rows, const TransitionOptions& options) {
  if (rows.size() == 0 || rows.classes < 2) return {};
  const ClearMatrix matrix = clear_matrix(views_of(rows), rows.classes, 0, options);
  return {matrix.rate(), matrix.clear};
}

Disagreement clear_disagreement(const PredictionBook& book) {
  constexpr std::size_t enough = 200'000;  // more samples take longer and say the same
  constexpr float least = 1e-7F;
  const std::size_t stride = book.size() / enough + 1;
  std::vector<float> row(static_cast<std::size_t>(book.classes()));
  std::vector<LabelView> views;
  for (std::size_t i = 0; i < book.size(); i += stride) {
    if (book.turns(i) == 0) continue;
    book.read(i, row);
    // Of many classes most have the same share.
    float before = 1, its_log = 0;
    for (float& p : row) {
      if (p != before) its_log = std::log(std::max(before = p, least));
      p = its_log;
    }
    views.push_back(view_of(row, book.labels()[i]));
  }
  if (views.empty() || book.classes() < 2) return {};
  const ClearMatrix matrix = clear_matrix(views, book.classes(), 0, {});
  return {matrix.rate(), matrix.clear};
}

TransitionMatrix clear_transition(const PredictionRows& rows, double noise_rate, const TransitionOptions& options) {
  constexpr int halvings = 20;
  if (rows.size() == 0 || rows.classes < 2) return symmetric_transition(rows.classes, 0);
  const std::vector<LabelView> views = views_of(rows);
  float low = -16, high = 16;  // as far as scores may lie apart
  ClearMatrix matrix = clear_matrix(views, rows.classes, 0, options);
  for (int i = 0; i < halvings; ++i) {
    const float amount = (low + high) / 2;
    matrix = clear_matrix(views, rows.classes, amount, options);
    (matrix.rate() < noise_rate ? low : high) = amount;
  }
  set_rate(matrix, noise_rate);
  fit_to_labels(matrix, rows.labels);
  return matrix.transition;
}

double fit_sharpness(const PredictionRows& rows, const TransitionMatrix& transition) {
  // Factors by which the sharpness is changed, until none of them helps.
  constexpr std::array steps{0.67, 0.82, 0.9, 0.97, 1.03, 1.1, 1.22, 1.5};
  constexpr double softest = 0.05, sharpest = 20;
  constexpr int most_rounds = 40;
  double best = 1, most = mean_log_likelihood(rows, transition, best);
  for (int round = 0; round < most_rounds && rows.size() > 0; ++round) {
    const double before = best;
    for (const double step : steps) {
      const double sharpness = std::clamp(before * step, softest, sharpest);
      const double likelihood = mean_log_likelihood(rows, transition, sharpness);
      if (likelihood <= most) continue;
      most = likelihood;
      best = sharpness;
    }
    if (best == before) break;
  }
  return best;
}

double posterior_of(std::span<const float> row, std::int32_t label, const TransitionFit& fit,
                    std::span<double> posterior) {
  sharpened(row, fit.sharpness, posterior);
  double sum = 0;
  for (std::size_t y = 0; y < row.size(); ++y) {
    posterior[y] *= fit.transition(static_cast<int>(y), label);
    sum += posterior[y];
  }
  if (sum <= 0) {
    std::ranges::fill(posterior, 0.0);
    posterior[static_cast<std::size_t>(std::ranges::max_element(row) - row.begin())] = 1;
    return 0;
  }
  for (double& p : posterior) p /= sum;
  return sum;
}

}  // namespace regroup
