#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace regroup {

/// One number for TensorBoard, as it stands in an event file: length, checksum, an Event message, checksum. `wall_time`
/// is in seconds since 1970.
std::string scalar_record(std::string_view tag, double value, std::int64_t step, double wall_time);

/// The record that every event file starts with.
std::string version_record(double wall_time);

/// Writes a new event file. TensorBoard shows all files of a folder as one run, so a run that is resumed makes another
/// file there. Throws UserError.
class EventWriter {
 public:
  /// The folder is there already. Without a name the file is called events.out.tfevents.SECONDS.HOST.PID, with a number
  /// behind it if there is one; a file of a given name is written anew.
  explicit EventWriter(const std::filesystem::path& folder, const std::optional<std::string>& name = std::nullopt);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();

  void scalar(std::string_view tag, double value, std::int64_t step, double wall_time);

  /// What was added up to now is seen by others.
  void flush();

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string pending_;
};

}  // namespace regroup
