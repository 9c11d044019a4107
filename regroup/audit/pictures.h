#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regroup/audit/audit.h"
#include "regroup/data/image.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// The pictures of an audit's samples, as people look at them: image files anew and larger than networks get them,
/// other samples as they are. May be used by several threads at once.
class PictureReader {
 public:
  /// `sources` has one per part of the audit, for samples that are no files; null or none where there is nothing to
  /// show. `audit` must outlive the reader.
  PictureReader(const Audit& audit, std::vector<std::shared_ptr<const SampleSource>> sources);

  /// The longer side is at most `longest_side`; nothing is enlarged. Nothing where the picture cannot be read.
  std::optional<Image> read(std::uint32_t sample, int longest_side) const;

 private:
  const Audit& audit_;
  std::vector<std::shared_ptr<const SampleSource>> sources_;
};

/// Small pictures of many samples, in a few JPEG files of columns times rows of them. Each is in the upper left corner
/// of its cell; cells go row by row, and on in the next sheet.
struct Tiles {
  int size = 0;  ///< of a cell, whose height is its width
  int columns = 10, rows = 10;
  std::vector<std::string> sheets;
  std::vector<ImageSize> pictures;  ///< by sample; nothing where there is no picture
};

/// Until the sheets take `most_bytes`.
Tiles make_tiles(std::span<const std::uint32_t> samples, const PictureReader& pictures, std::size_t most_bytes,
                 int threads);

}  // namespace regroup
