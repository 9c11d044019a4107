#pragma once

namespace regroup {

/// What comes after a normalisation in a network: nothing, negative values to 0, or those above 6 to 6 as well.
enum class Activation { none, relu, relu6 };

}  // namespace regroup
