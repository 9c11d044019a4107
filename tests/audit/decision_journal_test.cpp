#include "regroup/audit/decision_journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "audit/decision_testing.h"
#include "audit/full_disk.h"
#include "regroup/core/random.h"
#include "support/temporary_folder.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return content.str();
}

TEST(DecisionJournal, KeepsWhatIsAppended) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  const auto file = folder.path() / "decisions.csv";
  const auto decisions = many_decisions(audit, 30);
  const std::span all(decisions);
  {
    DecisionJournal journal(file, audit);
    EXPECT_EQ(content_of(file), decisions_header);
    EXPECT_EQ(journal.last(), 0U);
    EXPECT_EQ(journal.append(all.first(10)), 10U);
    EXPECT_EQ(journal.append({}), 10U);
    EXPECT_EQ(journal.since(8).decisions, std::vector(decisions.begin() + 8, decisions.begin() + 10));
    EXPECT_EQ(journal.since(10).last, 10U);
    EXPECT_TRUE(journal.since(11).decisions.empty());
  }
  DecisionJournal journal(file, audit);
  EXPECT_EQ(journal.append(all.subspan(10)), 30U);
  EXPECT_EQ(journal.since(0).decisions, decisions);
  EXPECT_EQ(content_of(file), decisions_csv(decisions, audit));
}

TEST(DecisionJournal, WhatWasCutByAPowerLossIsDropped) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  // The third one has line ends in its path and its class.
  const std::vector<Decision> decisions{labelled(0, 1), none_of(2), labelled(1, 2)};
  const std::string whole = decisions_csv(decisions, audit);
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const auto file = folder.write("decisions.csv", whole.substr(0, bytes));
    DecisionJournal journal(file, audit);
    const std::vector<Decision> kept = journal.since(0).decisions;
    ASSERT_EQ(kept, std::vector(decisions.begin(), decisions.begin() + static_cast<std::ptrdiff_t>(kept.size())));
    const std::string lines = decisions_csv(kept, audit);
    ASSERT_TRUE(whole.starts_with(lines));
    ASSERT_TRUE(kept.size() == decisions.size() ||
                decisions_csv(std::span(decisions).first(kept.size() + 1), audit).size() > bytes)
        << "after " << bytes << " bytes, a whole line was dropped";
    EXPECT_EQ(content_of(file), lines);
    if (bytes % 5 != 0) continue;  // syncing takes its time
    journal.append(std::vector{none_of(4)});
    EXPECT_EQ(content_of(file), lines + decision_lines(std::vector{none_of(4)}, audit));
  }
}

TEST(DecisionJournal, DamageElsewhereIsTold) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  const auto open = [&](const std::string& content) {
    const auto file = folder.write("decisions.csv", content);
    std::string sentence = user_error([&] { const DecisionJournal journal(file, audit); });
    EXPECT_EQ(content_of(file), content) << "nothing is changed in a file that is not understood";
    return sentence.substr(std::min(sentence.size(), file.string().size()));
  };
  const std::string start(decisions_header), line = "20,train,,none,\n";
  EXPECT_EQ(open("id,label\n1,2\n"),
            ": line 1: is not 'index,part,path,decision,label'; decisions are not kept in another file than one of "
            "decisions");
  EXPECT_TRUE(open(start + "0,train,-a/0.jpg,none,\n0,tr\n0,train,-a/0.jpg,none,\n").starts_with(": line 3: 2 fields"));
  EXPECT_TRUE(open(start + std::string("0,tra\0n,,none,\n", 15)).starts_with(": line 2: it has a zero byte"));
  // A quote makes all that follows one field.
  EXPECT_TRUE(open(start + "0,train,\"-a/0.jpg,none,\n0,train,-a/0.jpg,none,\n").starts_with(": line 2: a quote"));
  EXPECT_EQ(open(start + "0,train,\"-a/0.jpg,none,\n0,train,-a/0.jpg,none,\n0,tra"),
            ": line 2: is damaged; mend it, or delete it and what follows");
}

TEST(DecisionJournal, HasOneWriter) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  const auto file = folder.path() / "decisions.csv";
  {
    const DecisionJournal journal(file, audit);
    EXPECT_EQ(user_error([&] { const DecisionJournal second(file, audit); }),
              file.string() + ": another program keeps decisions there at this moment; end that one first");
  }
  const DecisionJournal next(file, audit);
}

TEST(DecisionJournal, SaysWhereDecisionsCannotBeKept) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  const auto message = [&](const std::filesystem::path& file) {
    return user_error([&] { const DecisionJournal journal(file, audit); });
  };
  EXPECT_EQ(message("/nowhere/d.csv"),
            "/nowhere/d.csv: decisions cannot be kept there: No such file or directory; make its folder one that you "
            "may write to");
  EXPECT_TRUE(message(folder.path()).ends_with(": Is a directory; make its folder one that you may write to"));
  EXPECT_EQ(message("/dev/null"), "/dev/null: decisions cannot be kept there: it is no regular file");
}

TEST(DecisionJournal, AFullDiskLeavesNoHalfLine) {
  const TemporaryFolder folder;
  const Audit audit = named_audit();
  const auto file = folder.path() / "decisions.csv";
  DecisionJournal journal(file, audit);
  const auto decisions = many_decisions(audit, 20);
  journal.append(std::span(decisions).first(5));
  const std::string before = content_of(file);
  std::string sentence;
  {
    const FullDisk disk(before.size() + 70);
    sentence = user_error([&] { journal.append(std::span(decisions).subspan(5)); });
  }
  EXPECT_EQ(sentence, file.string() + ": the decision could not be kept; is the disk full?");
  EXPECT_EQ(content_of(file), before);
  EXPECT_EQ(journal.last(), 5U);
  EXPECT_EQ(journal.append(std::span(decisions).subspan(5)), 20U) << "once there is room again";
  EXPECT_EQ(content_of(file), decisions_csv(decisions, audit));
}

TEST(DecisionJournal, ThreadsAppendWholeBatches) {
  const TemporaryFolder folder;
  const Audit audit = named_audit(400, 0);
  const auto file = folder.path() / "decisions.csv";
  {
    DecisionJournal journal(file, audit);
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint32_t i = 0; i < 20; ++i) {
          const std::uint32_t sample = thread * 100 + i;
          const auto number = journal.append(std::vector{none_of(sample), labelled(sample, 0), cleared(sample)});
          const auto seen = journal.since(number - 3);
          EXPECT_GE(seen.last, number);
          EXPECT_EQ(seen.decisions.front(), none_of(sample));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const auto all = DecisionJournal(file, audit).since(0).decisions;
  ASSERT_EQ(all.size(), 240U);
  for (std::size_t i = 0; i < all.size(); i += 3) {
    EXPECT_EQ(all[i], none_of(all[i].sample));
    EXPECT_EQ(all[i + 1], labelled(all[i].sample, 0));
    EXPECT_EQ(all[i + 2], cleared(all[i].sample));
  }
}

/// Decisions number first, first + 1, ... until the end, each number on the pipe when it was acknowledged.
[[noreturn]] void append_for_ever(const std::filesystem::path& file, const Audit& audit,
                                  const std::vector<Decision>& decisions, int acknowledged) {
  try {
    DecisionJournal journal(file, audit);
    for (std::size_t next = journal.last(); next < decisions.size();) {
      const std::size_t batch = std::min<std::size_t>(1 + next % 5, decisions.size() - next);
      next = journal.append(std::span(decisions).subspan(next, batch));
      if (::write(acknowledged, &next, sizeof next) != sizeof next) break;
    }
  } catch (const std::exception&) {
    ::_exit(3);
  }
  ::_exit(0);
}

TEST(DecisionJournal, AKillAtAnyMomentLosesNothingThatWasAcknowledged) {
  const TemporaryFolder folder;
  const Audit audit = named_audit(50, 10);
  const auto file = folder.path() / "decisions.csv";
  const auto decisions = many_decisions(audit, 200000);
  Stream random(3, Purpose::synthetic);
  std::size_t acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) append_for_ever(file, audit, decisions, pipe[1]);
    ::close(pipe[1]);
    // The child is at work when it is killed.
    std::size_t number = 0;
    ASSERT_EQ(::read(pipe[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    ::usleep(random.below(20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    do acknowledged = number;
    while (::read(pipe[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number));
    ::close(pipe[0]);

    const std::size_t found = [&] {
      const DecisionJournal journal(file, audit);
      const auto kept = journal.since(0).decisions;
      EXPECT_EQ(kept, std::vector(decisions.begin(), decisions.begin() + static_cast<std::ptrdiff_t>(kept.size())));
      return kept.size();
    }();
    EXPECT_GE(found, acknowledged);
    ASSERT_EQ(content_of(file), decisions_csv(std::span(decisions).first(found), audit));
  }
  EXPECT_GT(acknowledged, 12U);
}

}  // namespace
}  // namespace regroup
