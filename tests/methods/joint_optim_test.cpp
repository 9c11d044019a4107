#include "regroup/methods/joint_optim.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/rows.h"

namespace regroup {
namespace {

TEST(JointOptim, EntropiesAreOfEachRow) {
  const at::Tensor p = rows_of({{0.5, 0.25, 0.25}, {0.98, 0.01, 0.01}});
  const at::Tensor h = entropies(p.log());
  EXPECT_NEAR(h[0].item<double>(), 1.5 * std::log(2), 1e-12);
  EXPECT_NEAR(h[1].item<double>(), -0.98 * std::log(0.98) - 0.02 * std::log(0.01), 1e-12);
}

TEST(JointOptim, TheMeanIsOfTheEpochsInWhichASampleHadItsTurn) {
  const double none = std::nan("");
  // Three epochs, three samples, two classes.
  const at::Tensor history = at::tensor({0.8, 0.2, none, none, none, none,  //
                                         0.6, 0.4, 0.3, 0.7, none, none,    //
                                         0.1, 0.9, none, none, none, none},
                                        at::kDouble)
                                 .view({3, 3, 2});
  const at::Tensor otherwise = rows_of({{0.0, 1.0}, {0.0, 1.0}, {0.0, 1.0}});
  const at::Tensor expected = rows_of({{0.5, 0.5}, {0.3, 0.7}, {0.0, 1.0}});
  EXPECT_TRUE(mean_predictions(history, otherwise).allclose(expected));
}

}  // namespace
}  // namespace regroup
