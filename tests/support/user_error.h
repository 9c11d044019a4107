#pragma once

#include <functional>
#include <string>

#include "regroup/core/error.h"

namespace regroup {

/// The sentence of the UserError that `body` throws.
inline std::string user_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no UserError was thrown";
}

}  // namespace regroup
