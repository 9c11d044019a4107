#pragma once

#include <stdexcept>

namespace regroup {

/// The user's mistake: a wrong flag, a missing file, data that cannot be what it claims to be. The message is one
/// sentence that says what, where and what to do. Everything else that is thrown is a mistake of ours.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace regroup
