#include "regroup/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace regroup {
namespace {

constexpr double title_size = 16;
constexpr double bold = 1.1;  // how much wider bold text is
constexpr double label_size = 12;
constexpr double margin = 16;
constexpr std::size_t colours = 7;
constexpr std::size_t dashes = 3;

// Okabe and Ito's colours, which the colour-blind can tell apart, darker or lighter where the background asks for it.
constexpr std::array<std::string_view, colours> light_colours = {"#0072b2", "#d55e00", "#009e73", "#b8559a",
                                                                 "#3a9bd9", "#c98500", "#6b6b6b"};
constexpr std::array<std::string_view, colours> dark_colours = {"#4ca6e8", "#ff8548", "#2cc295", "#e69bc6",
                                                                "#9ad7f8", "#f5bd4f", "#b4b4b4"};

/// One of the two looks. Rules begin with .regroup, for SVG inside HTML shares its style with the whole page.
std::string look(std::string_view back, std::string_view ink, std::string_view soft, std::string_view grid,
                 std::span<const std::string_view, colours> series) {
  std::string css = fmt::format(
      ".regroup .back{{fill:{0}}}.regroup text{{fill:{1}}}.regroup .soft{{fill:{2}}}.regroup .on{{fill:{0}}}"
      ".regroup .grid{{stroke:{3}}}.regroup .axis{{stroke:{2}}}.regroup .heat{{fill:{4}}}.regroup "
      ".from{{stop-color:{4}}}",
      back, ink, soft, grid, series[0]);
  for (std::size_t i = 0; i < colours; ++i) css += fmt::format(".regroup .s{0}{{stroke:{1};color:{1}}}", i, series[i]);
  return css;
}

std::string style() {
  return "<style>.regroup text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',"
         "sans-serif}.regroup .title{font-size:16px;font-weight:600}.regroup .small{font-size:10.5px}"
         ".regroup .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
         ".regroup .dot{fill:currentColor;stroke:none}.regroup "
         ".fill{fill:currentColor;fill-opacity:.3;stroke-width:1.5;"
         "stroke-linejoin:round}.regroup .grid,.regroup .axis{fill:none;stroke-width:1}"
         ".regroup .dash1{stroke-dasharray:7 5}.regroup .dash2{stroke-dasharray:1.5 5}" +
         look("#ffffff", "#1f2328", "#59636e", "#e4e8ec", light_colours) + "@media (prefers-color-scheme:dark){" +
         look("#15181d", "#e8ebef", "#9ca6b1", "#2d333b", dark_colours) + "}</style>\n";
}

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

constexpr std::uint32_t unknown_character = 0xfffd;

/// The first character of UTF-8 text that is not empty. A byte that is no part of one is an unknown character of its
/// own.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {unknown_character, 1};
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {unknown_character, 1};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest[size] || code > 0x10ffff || is_surrogate) return {unknown_character, 1};
  return {code, size};
}

bool is_in_xml(std::uint32_t code) { return code >= 0x20 && code != 0x7f && code != 0xfffe && code != 0xffff; }

/// In units of the font size, for the widest of the usual fonts.
double character_width(std::uint32_t code) {
  if (code >= 0x1100) return 1;
  if (code >= 0x80) return 0.65;
  const auto c = static_cast<char>(code);
  if (std::string_view("ijl.,:;'|! ").find(c) != std::string_view::npos) return 0.32;
  if (std::string_view("frt()[]-/").find(c) != std::string_view::npos) return 0.4;
  if (std::string_view("mwMW%@").find(c) != std::string_view::npos) return 0.95;
  return c >= 'A' && c <= 'Z' ? 0.72 : 0.63;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    switch (code) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        if (code == unknown_character || !is_in_xml(code)) {
          result += "\xef\xbf\xbd";
        } else {
          result += text.substr(0, bytes);
        }
    }
    text.remove_prefix(bytes);
  }
  return result;
}

double text_width(std::string_view text, double font_size) {
  double width = 0;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    width += character_width(code);
    text.remove_prefix(bytes);
  }
  return width * font_size;
}

std::string cut_text(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  double used = font_size;  // the ellipsis
  std::size_t kept = 0;
  while (kept < text.size()) {
    const auto [code, bytes] = first_character(text.substr(kept));
    used += character_width(code) * font_size;
    if (used > width) break;
    kept += bytes;
  }
  while (kept > 0 && text[kept - 1] == ' ') --kept;
  return std::string(text.substr(0, kept)) + "\u2026";
}

std::string series_class(std::size_t index) {
  const std::size_t dash = index / colours % dashes;
  return fmt::format("s{}{}", index % colours, dash == 0 ? "" : fmt::format(" dash{}", dash));
}

Picture::Picture(double width, std::string_view title) : width_(width), title_(title) {
  text(margin, margin + title_size - 4, title, "start", "title", width - 2 * margin);
}

std::string Picture::finish(double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"regroup\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}"
      "<rect class=\"back\" width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\"/>\n{4}</svg>\n",
      width_, height, xml_text(title_), style(), svg_);
}

void Picture::text(double x, double y, std::string_view text, std::string_view anchor, std::string_view style,
                   double width) {
  const double size = style == "title" ? title_size * bold : label_size;
  add(fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                  style.empty() ? "" : fmt::format(" class=\"{}\"", style),
                  xml_text(width > 0 ? cut_text(text, width, size) : text)));
}

double Picture::legend(double top, std::span<const std::string> names) {
  constexpr double swatch = 18;
  constexpr double row = 20;
  double x = margin;
  double y = top;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = cut_text(names[i], 220, label_size);
    const double wide = swatch + 6 + text_width(name, label_size) + 18;
    if (x > margin && x + wide - 18 > width_ - margin) {
      x = margin;
      y += row;
    }
    add(fmt::format("<path class=\"line {}\" style=\"stroke-width:3\" d=\"M{:.1f} {:.1f}h{:g}\"/>\n", series_class(i),
                    x, y - 4, swatch));
    text(x + swatch + 6, y, name, "start");
    x += wide;
  }
  return names.empty() ? top - row : y;
}

void Picture::axes(const Rect& plot, const Axis& x, const Axis& y, const ChartText& labels) {
  std::string grid;
  for (const double tick : y.ticks) {
    const double at = plot.bottom - y.place(tick) * (plot.bottom - plot.top);
    grid += fmt::format("M{:.1f} {:.1f}H{:.1f}", plot.left, at, plot.right);
    text(plot.left - 8, at + 4, y.label(tick), "end", "soft");
  }
  add(fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid));
  std::string marks = fmt::format("M{:.1f} {:.1f}H{:.1f}", plot.left, plot.bottom, plot.right);
  for (const double tick : x.ticks) {
    const double at = plot.left + x.place(tick) * (plot.right - plot.left);
    marks += fmt::format("M{:.1f} {:.1f}v5", at, plot.bottom);
    text(at, plot.bottom + 19, x.label(tick), "middle", "soft");
  }
  add(fmt::format("<path class=\"axis\" d=\"{}\"/>\n", marks));
  text((plot.left + plot.right) / 2, plot.bottom + 40, labels.x_label, "middle", "", plot.right - plot.left);
  add(fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                  margin + 8, (plot.top + plot.bottom) / 2,
                  xml_text(cut_text(labels.y_label, plot.bottom - plot.top, label_size))));
}

Rect plot_area(double width, double top, const Axis& y) {
  double widest = 0;
  for (const double tick : y.ticks) widest = std::max(widest, text_width(y.label(tick), label_size));
  return {margin + 22 + widest + 8, top, width - margin - 14, top + 300};
}

double height_around(const Rect& plot) { return plot.bottom + 54; }

}  // namespace regroup
