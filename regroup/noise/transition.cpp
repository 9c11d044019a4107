#include "regroup/noise/transition.h"

namespace regroup {

TransitionMatrix symmetric_transition(int classes, double rate) {
  TransitionMatrix matrix(classes);
  for (int from = 0; from < classes; ++from) {
    for (int to = 0; to < classes; ++to) matrix(from, to) = to == from ? 1 - rate : rate / (classes - 1);
  }
  return matrix;
}

TransitionMatrix symmetric_all_transition(int classes, double rate) {
  TransitionMatrix matrix(classes);
  for (int from = 0; from < classes; ++from) {
    for (int to = 0; to < classes; ++to) matrix(from, to) = (to == from ? 1 - rate : 0) + rate / classes;
  }
  return matrix;
}

TransitionMatrix pairflip_transition(int classes, double rate) {
  TransitionMatrix matrix(classes);
  for (int from = 0; from < classes; ++from) {
    matrix(from, (from + 1) % classes) = rate;
    matrix(from, from) += 1 - rate;
  }
  return matrix;
}

int draw_label(std::span<const double> row, int clean, double uniform) {
  // The clean class comes first: at one seed a higher rate then flips the labels that a lower one flips, and more.
  double rest = uniform - row[static_cast<std::size_t>(clean)];
  if (rest < 0) return clean;
  int possible = clean;
  for (int to = 0; to < static_cast<int>(row.size()); ++to) {
    const double probability = row[static_cast<std::size_t>(to)];
    if (to == clean || probability <= 0) continue;
    possible = to;
    rest -= probability;
    if (rest < 0) break;
  }
  // Rounding may leave a rest of about 1e-16 beyond the last class that can be drawn; that class takes it.
  return possible;
}

}  // namespace regroup
