#pragma once

namespace regroup {

/// While it lives, what this thread computes has second derivatives: our own kernels, which have first ones only, step
/// aside for the engine's operations. Networks are then computed in fp32.
class SecondDerivatives {
 public:
  SecondDerivatives();
  ~SecondDerivatives();
  SecondDerivatives(const SecondDerivatives&) = delete;
  SecondDerivatives& operator=(const SecondDerivatives&) = delete;

  static bool are_wanted();

 private:
  bool were_wanted_;
};

}  // namespace regroup
