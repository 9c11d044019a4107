#include "regroup/train/run_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "regroup/core/error.h"

namespace regroup {
namespace {

TEST(RunLock, HasOneOwnerUntilItEnds) {
  const auto file = std::filesystem::temp_directory_path() / ("regroup-lock-" + std::to_string(::getpid()));
  auto first = RunLock::take(file);
  ASSERT_TRUE(first);
  EXPECT_FALSE(RunLock::take(file)) << "also within one process";
  EXPECT_TRUE(RunLock::owner(file).starts_with("process " + std::to_string(::getpid()) + " on "));

  // Another process that ends without a word releases what it had.
  first.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto taken = RunLock::take(file);
    ::raise(taken ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(RunLock::take(file));
  std::filesystem::remove(file);
}

TEST(RunLock, AFolderThatIsNotThereIsAMistake) { EXPECT_THROW(RunLock::take("/nowhere/lock"), UserError); }

}  // namespace
}  // namespace regroup
