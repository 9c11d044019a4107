#pragma once

#include <sys/types.h>
#include <cstdio>
#include <string>

namespace regroup::bench {

/// A script of this folder, running in Debian's Python beside this program and answering when it is asked.
class PyTorchProcess {
 public:
  explicit PyTorchProcess(std::string script);
  PyTorchProcess(const PyTorchProcess&) = delete;
  PyTorchProcess& operator=(const PyTorchProcess&) = delete;
  ~PyTorchProcess();

  /// Sends a command and waits for its number.
  double ask(const std::string& command);

 private:
  std::string script_;
  pid_t child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace regroup::bench
