#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "regroup/report/charts.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

constexpr double label_size = 12;
constexpr double longest_name = 120;
constexpr std::size_t most_printed = 20;  // classes whose shares are printed
constexpr std::size_t most_named = 40;    // classes whose names are printed
constexpr int shades = 40;

/// How strong the colour of a share is: the root, for the small shares are the mistakes.
double shade(double share) { return std::sqrt(share); }

/// The shares of each row; a row without images stays zero.
std::vector<double> row_shares(std::span<const double> counts, std::size_t classes) {
  std::vector<double> shares(counts.begin(), counts.end());
  for (double& share : shares) share = share > 0 && std::isfinite(share) ? share : 0;
  for (std::size_t row = 0; row < classes; ++row) {
    const auto cells = std::span(shares).subspan(row * classes, classes);
    double sum = 0;
    for (const double cell : cells) sum += cell;
    for (double& cell : cells) cell = sum > 0 ? cell / sum : 0;
  }
  return shares;
}

/// Where the cells are, and how large.
struct Grid {
  double left;
  double top;
  double cell;
  std::size_t classes;

  double at(std::size_t i) const { return cell * static_cast<double>(i); }
  double size() const { return at(classes); }
};

/// All cells of one shade are one path: a hundred classes have ten thousand cells.
void draw_cells(Picture& picture, const Grid& grid, std::span<const double> shares) {
  std::vector<std::string> paths(shades + 1);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto level = static_cast<std::size_t>(std::ceil(shade(shares[i]) * shades - 1e-9));
    paths[level] += fmt::format("M{} {}h1v1h-1z", i % grid.classes, i / grid.classes);
  }
  picture.add(fmt::format(
      "<g class=\"heat\" transform=\"translate({:.1f} {:.1f}) scale({:.3f})\" shape-rendering=\"crispEdges\">\n",
      grid.left, grid.top, grid.cell));
  for (std::size_t level = 1; level < paths.size(); ++level) {
    if (paths[level].empty()) continue;
    picture.add(
        fmt::format("<path fill-opacity=\"{:.3f}\" d=\"{}\"/>\n", static_cast<double>(level) / shades, paths[level]));
  }
  picture.add("</g>\n");
  std::string lines =
      fmt::format("M{0:.1f} {1:.1f}h{2:.1f}v{2:.1f}h{3:.1f}z", grid.left, grid.top, grid.size(), -grid.size());
  if (grid.classes <= most_printed) {
    for (std::size_t i = 1; i < grid.classes; ++i) {
      lines += fmt::format("M{:.1f} {:.1f}h{:.1f}", grid.left, grid.top + grid.at(i), grid.size());
      lines += fmt::format("M{:.1f} {:.1f}v{:.1f}", grid.left + grid.at(i), grid.top, grid.size());
    }
  }
  picture.add(fmt::format("<path class=\"grid\" d=\"{}\"/>\n", lines));
}

void print_shares(Picture& picture, const Grid& grid, std::span<const double> shares) {
  const int decimals = grid.classes <= 12 ? 1 : 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string value = fmt::format("{:.{}f}", 100 * shares[i], decimals);
    if (value == "0" || value == "0.0") continue;
    picture.text(grid.left + grid.at(i % grid.classes) + grid.cell / 2,
                 grid.top + grid.at(i / grid.classes) + grid.cell / 2 + 4, value == "100.0" ? "100" : value, "middle",
                 shade(shares[i]) > 0.6 ? "small on" : "small");
  }
}

void print_names(Picture& picture, const Grid& grid, std::span<const std::string> names, double angle) {
  // Beyond that many classes a number now and then has to do.
  const std::size_t every = names.size() <= most_named ? 1 : names.size() <= 200 ? 10 : names.size() / 20;
  for (std::size_t i = 0; i < names.size(); i += every) {
    const std::string name = every == 1 ? cut_text(names[i], longest_name, label_size) : std::to_string(i);
    const double middle = grid.at(i) + grid.cell / 2;
    picture.text(grid.left - 8, grid.top + middle + 4, name, "end", "soft");
    const double x = grid.left + middle;
    const double y = grid.top + grid.size();
    if (angle > 0) {
      picture.add(fmt::format(
          "<text class=\"soft\" transform=\"translate({:.1f} {:.1f}) rotate(-{:.0f})\" text-anchor=\"end\">{}</text>\n",
          x + 4, y + 14, angle, xml_text(name)));
    } else {
      picture.text(x, y + 19, name, "middle", "soft");
    }
  }
}

/// The scale of the colours beside the cells.
void draw_scale(Picture& picture, const Grid& grid) {
  constexpr double wide = 12;
  const double left = grid.left + grid.size() + 20;
  const double tall = std::min(grid.size(), 240.0);
  picture.add(
      "<defs><linearGradient id=\"regroup-heat\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">"
      "<stop class=\"from\" offset=\"0\" stop-opacity=\"0\"/><stop class=\"from\" "
      "offset=\"1\"/></linearGradient></defs>\n");
  picture.add(
      fmt::format("<rect class=\"grid\" style=\"fill:url(#regroup-heat)\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" "
                  "height=\"{:.1f}\"/>\n",
                  left, grid.top, wide, tall));
  for (const int percent : {0, 5, 25, 50, 100}) {
    picture.text(left + wide + 6, grid.top + tall * (1 - shade(percent / 100.0)) + 4, fmt::format("{}%", percent),
                 "start", "soft small");
  }
}

}  // namespace

std::string confusion_chart(const ChartText& text, std::span<const std::string> class_names,
                            std::span<const double> counts) {
  const std::size_t classes = class_names.size();
  if (counts.size() != classes * classes)
    throw std::invalid_argument("confusion_chart: not one count a pair of classes");
  const auto shares = row_shares(counts, classes);

  Grid grid{};
  grid.classes = classes;
  grid.top = 50;
  grid.cell = classes <= 12             ? 44
              : classes <= most_printed ? 30
              : classes <= most_named   ? 16
                                        : 560.0 / static_cast<double>(classes);
  double longest = text_width("100", label_size);
  if (classes <= most_named) {
    for (const auto& name : class_names)
      longest = std::max(longest, std::min(longest_name, text_width(name, label_size)));
  }
  // Names that are wider than a cell are turned, upright where the cells are small.
  double angle = 0;
  if (classes <= most_named && longest > grid.cell - 6) angle = grid.cell < 24 ? 90 : 45;
  grid.left = 16 + 22 + longest + 8;
  const double names_below = angle > 0 ? 18 + std::sin(angle / 180 * std::numbers::pi) * longest : 22;
  const double width = std::max(360.0, grid.left + grid.size() + 82);
  const double bottom = grid.top + grid.size() + names_below + 22;

  Picture picture(width, text.title);
  draw_cells(picture, grid, shares);
  if (classes <= most_printed) print_shares(picture, grid, shares);
  print_names(picture, grid, class_names, angle);
  if (classes > 0) draw_scale(picture, grid);
  picture.text(grid.left + grid.size() / 2, bottom, text.x_label, "middle");
  picture.add(fmt::format("<text transform=\"translate(24 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                          grid.top + grid.size() / 2, xml_text(text.y_label)));
  return picture.finish(bottom + 14);
}

}  // namespace regroup
