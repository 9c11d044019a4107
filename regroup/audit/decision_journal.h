#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/audit/decisions.h"

namespace regroup {

/// The decisions about an audit in a file that only grows (decisions.h has its form). Who has been told that a decision
/// is kept can rely on it, whatever happens to the program or the machine. All functions may be called by several
/// threads at the same time.
class DecisionJournal {
 public:
  /// Takes the decisions that the file holds, or begins it. A line that was not written to its end is cut off: it was
  /// acknowledged to nobody. `audit` must outlive the journal. Throws UserError where the file is damaged, cannot be
  /// written, or is in use by another program.
  DecisionJournal(std::filesystem::path file, const Audit& audit);
  DecisionJournal(const DecisionJournal&) = delete;
  DecisionJournal& operator=(const DecisionJournal&) = delete;
  ~DecisionJournal();

  /// All of them are on the disk when this returns the number of the last one, and none is in the file where it throws
  /// UserError.
  std::uint64_t append(std::span<const Decision> decisions);

  struct Part {
    std::uint64_t last = 0;  ///< the number of the last decision; the first one has number 1
    std::vector<Decision> decisions;
  };

  /// Those after number `after`, in their order; none where there are no more.
  Part since(std::uint64_t after) const;

  std::uint64_t last() const;
  const std::filesystem::path& file() const { return file_; }

 private:
  void take_content();
  std::size_t whole_bytes(std::string_view content) const;
  bool begins_a_line(std::string_view piece) const;
  void write_lines(std::string_view lines);
  void cut_to(std::size_t bytes);

  std::filesystem::path file_;
  const Audit& audit_;
  std::mutex writing_;       ///< held while the file is written, so that readers need not wait for the disk
  mutable std::mutex list_;  ///< guards decisions_
  int descriptor_ = -1;
  std::size_t bytes_ = 0;  ///< of the file, all whole lines
  bool is_broken_ = false;
  std::vector<Decision> decisions_;
};

}  // namespace regroup
