#include "pytorch_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <utility>

namespace regroup::bench {

PyTorchProcess::PyTorchProcess(std::string script) : script_(std::move(script)) {
  const std::string path = std::string(REGROUP_BENCH_FOLDER "/") + script_;
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("no pipe");
  std::signal(SIGPIPE, SIG_IGN);
  child_ = fork();
  if (child_ == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
    execl("/usr/bin/python3", "python3", path.c_str(), nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
}

PyTorchProcess::~PyTorchProcess() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(child_, nullptr, 0);
}

double PyTorchProcess::ask(const std::string& command) {
  fmt::print(to_, "{}\n", command);
  std::fflush(to_);
  double answer = 0;
  if (std::fscanf(from_, "%lf", &answer) != 1)
    throw std::runtime_error("bench/" + script_ + " gave no answer; scripts/setup bench installs what it needs");
  return answer;
}

}  // namespace regroup::bench
