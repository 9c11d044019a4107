#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Early-learning regularisation (Liu et al., NeurIPS 2020).
MethodInfo elr_method();

/// The paper's probabilities, which are never quite 0 or 1.
at::Tensor bounded_softmax(const at::Tensor& logits);

/// t <- beta t + (1 - beta) p / sum(p), row by row.
at::Tensor ensembled(const at::Tensor& t, const at::Tensor& p, double beta);

/// What a network has said about each sample so far, in a row each that begins with 0.
class TemporalEnsemble {
 public:
  explicit TemporalEnsemble(const Context& context);

  /// The rows of a batch once `logits` are taken in. That of a label that somebody has verified is the label.
  at::Tensor follow(const Context& context, const TensorBatch& batch, const at::Tensor& logits, double beta);

  void collect(State& state, const std::string& name) { state.add(name, rows_, {0, 1.0001}); }

 private:
  at::Tensor rows_;
};

/// log(1 - <t, p>) of each row: it is small where p stays with what was said before, and so holds labels back that
/// would change it.
at::Tensor early_learning_term(const at::Tensor& t, const at::Tensor& p);

}  // namespace regroup
