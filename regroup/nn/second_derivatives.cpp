#include "regroup/nn/second_derivatives.h"

#include <utility>

namespace regroup {
namespace {

thread_local bool wanted = false;

}  // namespace

SecondDerivatives::SecondDerivatives() : were_wanted_(std::exchange(wanted, true)) {}
SecondDerivatives::~SecondDerivatives() { wanted = were_wanted_; }
bool SecondDerivatives::are_wanted() { return wanted; }

}  // namespace regroup
