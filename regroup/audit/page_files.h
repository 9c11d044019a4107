#pragma once

#include <span>
#include <string_view>

namespace regroup {

// The files of page/, which are part of the program; the scripts in the order of their names.
extern const std::string_view page_html, page_css;
extern const std::span<const std::string_view> page_scripts;

}  // namespace regroup
