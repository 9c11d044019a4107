#include "regroup/report/result_page.h"

#include <fmt/format.h>

#include <string_view>

#include "regroup/report/result_parts.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

// The colours are those of the charts.
constexpr std::string_view style = R"(
:root{color-scheme:light dark;--back:#ffffff;--ink:#1f2328;--soft:#59636e;--rule:#d5dae0;--shade:#f4f6f8;--link:#0062a0}
@media (prefers-color-scheme:dark){
:root{--back:#15181d;--ink:#e8ebef;--soft:#9ca6b1;--rule:#39414a;--shade:#1e2329;--link:#6cb8f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);-webkit-text-size-adjust:100%;
font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif}
main{max-width:68rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.75rem;line-height:1.2;margin:.5rem 0 1rem}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .4rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p,ul{margin:.3rem 0;max-width:46rem;overflow-wrap:anywhere}
ul{padding-left:1.25rem}
a{color:var(--link)}
section{margin-top:2.5rem;padding-top:1.5rem;border-top:1px solid var(--rule)}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.state{font-weight:600}
.failures,.legend,.notes,.files,.runs,figcaption{font-size:.875rem;color:var(--soft)}
.scale{color:var(--soft)}
summary{cursor:pointer}
.scroll{position:relative;overflow-x:auto;margin:.6rem 0 1rem}
table{border-collapse:collapse;font-size:.9375rem;font-variant-numeric:tabular-nums;line-height:1.35;
border-top:2px solid var(--ink);border-bottom:2px solid var(--ink)}
thead{border-bottom:1px solid var(--ink)}
th,td{padding:.35rem .75rem;text-align:right;vertical-align:top;white-space:nowrap;font-weight:400}
thead th{font-weight:600;vertical-align:bottom}
th[scope=colgroup]{text-align:center}
tbody th,thead td{text-align:left;padding-left:.25rem;position:sticky;left:0;z-index:1;background:var(--back)}
tbody th{max-width:45vw;white-space:normal;overflow-wrap:break-word}
tbody tr+tr{border-top:1px solid var(--rule)}
tr.reference>*{background:var(--shade)}
.paper{display:block;font-size:.8125rem;color:var(--soft)}
.missing{color:var(--soft)}
b{font-weight:650}
sup{font-size:.7em;line-height:0}
td sup{position:absolute;line-height:1.2;margin-left:.15em}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem;margin-top:1rem}
figure{margin:0;min-width:0}
figure svg{display:block;width:100%;min-width:30rem;height:auto}
@media (max-width:40rem){th,td{padding:.35rem .5rem}}
@media print{section{break-inside:avoid}.scroll{overflow:visible}}
)";

std::string escaped(std::string_view text) { return xml_text(one_line(text)); }

/// A file beside the page as the target of a link. Escaped so that no name is an address elsewhere or a script.
std::string link_target(std::string_view file) {
  std::string target = "./";
  for (const char c : file) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-_./").find(c) != std::string_view::npos;
    target += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return target;
}

std::string paragraph(std::string_view kind, const std::string& words) {
  return words.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", kind, escaped(words));
}

std::string list(std::string_view kind, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("<ul class=\"{}\">\n", kind);
  for (const std::string& item : items) text += fmt::format("<li>{}</li>\n", escaped(item));
  return text + "</ul>\n";
}

std::string contents(const std::vector<PageSection>& sections) {
  if (sections.size() < 2) return "";
  std::string text = "<nav aria-label=\"Contents\">\n<ul>\n";
  for (const PageSection& section : sections) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor(section.table.id), escaped(section.table.title));
  }
  return text + "</ul>\n</nav>\n";
}

std::string charts(const std::vector<PageFigure>& figures) {
  if (figures.empty()) return "";
  std::string text = "<div class=\"charts\">\n";
  for (const PageFigure& figure : figures) {
    text += fmt::format("<figure>\n<div class=\"scroll\" tabindex=\"0\">\n{}</div>\n", figure.svg);
    if (!figure.caption.empty()) text += fmt::format("<figcaption>{}</figcaption>\n", escaped(figure.caption));
    text += "</figure>\n";
  }
  return text + "</div>\n";
}

std::string files(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = "<p class=\"files\">";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}<a href=\"{}\">{}</a>", i == 0 ? "" : " \u00b7 ", link_target(names[i]), escaped(names[i]));
  }
  return text + "</p>\n";
}

std::string runs(const std::vector<PageRuns>& cells) {
  if (cells.empty()) return "";
  std::string text = "<details class=\"runs\">\n<summary>Folders of the runs</summary>\n<ul>\n";
  for (const PageRuns& cell : cells) {
    text += fmt::format("<li>{}:", escaped(cell.label));
    for (const PageRuns::Folder& folder : cell.folders)
      text += fmt::format(" <a href=\"{}\">{}</a>", link_target(folder.path), escaped(folder.label));
    text += "</li>\n";
  }
  return text + "</ul>\n</details>\n";
}

}  // namespace

std::string result_page(const ResultPage& page) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      escaped(page.title), style, escaped(page.title));
  text += paragraph("scale", page.scale) + paragraph("state", page.state) + list("failures", page.failures);
  text += contents(page.sections) + list("notes", page.notes);
  for (const PageSection& section : page.sections) {
    text += fmt::format("<section id=\"{}\">\n{}{}{}{}</section>\n", anchor(section.table.id),
                        html_table(section.table), charts(section.figures), files(section.files), runs(section.runs));
  }
  return text + "</main>\n</body>\n</html>\n";
}

}  // namespace regroup
