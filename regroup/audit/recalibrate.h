#pragma once

#include <cstddef>
#include <span>

#include "regroup/audit/audit.h"
#include "regroup/audit/decisions.h"

namespace regroup {

/// What looking at some labels showed about the beliefs: the odds of being wrong are exp(shift) times as large as was
/// believed. With p_i the belief that label i is wrong, and w_i 1 if it was found wrong and else 0,
///
///     sum_i (w_i - sigmoid(shift + logit p_i)) = shift / spread^2
///
/// which is the likeliest shift where it is normally distributed with the deviation `spread` before anybody looked.
/// That labels were looked at in the order of the beliefs does no harm: they are compared with these very beliefs.
struct Recalibration {
  double shift = 0;
  double error = 1;  ///< the standard error of the shift
  std::size_t looked_at = 0, found_wrong = 0;
  double expected_wrong = 0;  ///< among those that were looked at, before anybody did

  /// The belief in a label that was not looked at.
  float right(float before) const;
};

/// `decisions` are those that stand: one per sample, none of them undone (decisions.h).
/// The spread by which the noise rate is as uncertain as the audit says: a shift moves each belief by p (1 - p).
double shift_spread(const Audit& audit);

Recalibration recalibration(const Audit& audit, std::span<const Decision> decisions);

/// Puts standing decisions into an audit that has none: they are certain, and the beliefs in all other labels, the
/// noise rates too, follow them.
void apply_decisions(std::span<const Decision> decisions, Audit& audit);

}  // namespace regroup
