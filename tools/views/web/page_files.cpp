#include "tools/views/web/page_files.hpp"

#include "tools/http/answers.hpp"
#include "tools/views/web/web_page.hpp"

#include <algorithm>
#include <string>

namespace clade {

bool give_page_file(httplib::Response& res, std::string_view path) {
  const auto page = web_page();
  const auto found = std::ranges::find(page, path, &web_asset::path);
  if (found == page.end())
    return false;
  res.set_header("Content-Encoding", "gzip");
  give_static(res, std::string(found->type), found->gzip);
  return true;
}

} // namespace clade
