#pragma once

#include <httplib.h>

#include <string_view>

namespace clade {

/// Answers with the file of the built page (web_page.hpp) that has this path; false: there
/// is none, and nothing is answered.
[[nodiscard]] bool give_page_file(httplib::Response& res, std::string_view path);

} // namespace clade
