#include "regroup/audit/decision_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw UserError(fmt::format("{}: {}", file.string(), what));
}

std::string reason(int error) { return std::generic_category().message(error); }

int open_journal(const std::filesystem::path& file) {
  // Without O_NONBLOCK, a pipe would be waited for.
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (descriptor < 0) {
    const int error = errno;
    fail(file,
         fmt::format("decisions cannot be kept there: {}; make its folder one that you may write to", reason(error)));
  }
  return descriptor;
}

void take_lock(const std::filesystem::path& file, int descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode))
    fail(file, "decisions cannot be kept there: it is no regular file");
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  if (error == EWOULDBLOCK) fail(file, "another program keeps decisions there at this moment; end that one first");
  fail(file, fmt::format("cannot be locked: {}; use a file system that has locks", reason(error)));
}

std::string read_all(const std::filesystem::path& file, int descriptor) {
  constexpr std::size_t step = 1U << 16;
  std::string content;
  for (std::size_t found = 0;;) {
    content.resize(found + step);
    const ssize_t got = pread(descriptor, content.data() + found, step, static_cast<off_t>(found));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(file, fmt::format("cannot be read: {}", reason(errno)));
    found += static_cast<std::size_t>(got);
    content.resize(found);
    if (got == 0) return content;
    if (found > max_text_bytes) fail(file, fmt::format("more than {} bytes; is it the right file?", max_text_bytes));
  }
}

/// The bytes up to the last line end that does not stand in quotes.
std::size_t bytes_of_records(std::string_view content) {
  std::size_t bytes = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (content[i] == '"') quoted = !quoted;
    if (content[i] == '\n' && !quoted) bytes = i + 1;
  }
  return bytes;
}

}  // namespace

DecisionJournal::DecisionJournal(std::filesystem::path file, const Audit& audit)
    : file_(std::move(file)), audit_(audit), descriptor_(open_journal(file_)) {
  try {
    take_lock(file_, descriptor_);
    take_content();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

DecisionJournal::~DecisionJournal() { close(descriptor_); }

void DecisionJournal::take_content() {
  const std::string content = read_all(file_, descriptor_);
  bytes_ = whole_bytes(content);
  if (bytes_ < content.size()) cut_to(bytes_);
  if (bytes_ == 0) {
    write_lines(decisions_header);
    sync_folder(file_.parent_path());
    return;
  }
  if (!content.starts_with(decisions_header))
    fail(file_, fmt::format("line 1: is not '{}'; decisions are not kept in another file than one of decisions",
                            trimmed(lines(decisions_header)[0])));
  decisions_ = parse_decisions(std::string_view(content).substr(0, bytes_), file_.string(), audit_);
}

/// How much of the file is whole lines. What follows is the beginning of one that a kill or a power loss has cut, and
/// anything else is damage, which the parser is to find.
std::size_t DecisionJournal::whole_bytes(std::string_view content) const {
  if (decisions_header.starts_with(content) && content.size() < decisions_header.size()) return 0;
  const std::size_t whole = bytes_of_records(content);
  const std::string_view piece = content.substr(whole);
  // A quote too many somewhere makes all that follows look like one line. So a piece of several lines must be how a
  // line of ours begins, one with a line end in a name.
  const bool is_torn = piece.find('\n') == std::string_view::npos || begins_a_line(piece);
  if (!is_torn && !piece.ends_with('\n'))
    fail(file_, fmt::format("line {}: is damaged; mend it, or delete it and what follows",
                            1 + std::ranges::count(content.substr(0, whole), '\n')));
  return is_torn ? whole : content.size();
}

bool DecisionJournal::begins_a_line(std::string_view piece) const {
  const auto index = whole_number(piece.substr(0, piece.find(',')));
  for (std::size_t i = 0; i < audit_.samples.size(); ++i) {
    if (index != std::int64_t{audit_.samples[i].index}) continue;
    const auto sample = static_cast<std::uint32_t>(i);
    std::vector<Decision> possible{{sample, DecisionKind::none}, {sample, DecisionKind::clear}};
    for (std::size_t label = 0; label < audit_.class_names.size(); ++label)
      possible.push_back({sample, DecisionKind::label, static_cast<std::int32_t>(label)});
    for (const Decision& decision : possible)
      if (decision_lines({&decision, 1}, audit_).starts_with(piece)) return true;
  }
  return false;
}

std::uint64_t DecisionJournal::append(std::span<const Decision> decisions) {
  const std::string lines = decision_lines(decisions, audit_);
  const std::scoped_lock writing(writing_);
  if (!decisions.empty()) write_lines(lines);
  const std::scoped_lock list(list_);
  decisions_.insert(decisions_.end(), decisions.begin(), decisions.end());
  return decisions_.size();
}

DecisionJournal::Part DecisionJournal::since(std::uint64_t after) const {
  const std::scoped_lock list(list_);
  const auto first = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(after, decisions_.size()));
  return {decisions_.size(), {decisions_.begin() + first, decisions_.end()}};
}

std::uint64_t DecisionJournal::last() const {
  const std::scoped_lock list(list_);
  return decisions_.size();
}

void DecisionJournal::write_lines(std::string_view lines) {
  if (is_broken_) fail(file_, "could not be written to the end before; start the program again");
  const auto undo = [this](const std::string& what) {
    // From now on nobody knows what the file holds, unless what was begun can be taken back.
    is_broken_ = true;
    cut_to(bytes_);
    is_broken_ = false;
    fail(file_, what);
  };
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t done = write(descriptor_, rest.data(), rest.size());
    const int error = errno;
    if (done >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(done));
    } else if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
      undo("the decision could not be kept; is the disk full?");
    } else if (error != EINTR) {
      undo(fmt::format("the decision could not be kept: {}", reason(error)));
    }
  }
  // Some file systems do not know how to sync, which is no reason to refuse decisions.
  if (fdatasync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) {
    const int error = errno;
    // What the system could not write it may forget, and a second attempt would succeed with nothing done.
    is_broken_ = true;
    cut_to(bytes_);
    fail(file_, fmt::format("the decision could not be kept: {}; look after the disk and start the program again",
                            reason(error)));
  }
  bytes_ += lines.size();
}

void DecisionJournal::cut_to(std::size_t bytes) {
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    fail(file_, fmt::format("an unfinished line cannot be cut off: {}", reason(errno)));
}

}  // namespace regroup
