#include "tools/queue/server/openapi.hpp"

#include "engine/report/base/json_parts.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace clade {

namespace {

constexpr std::array<std::string_view, 4> methods{"delete", "get", "post", "put"};

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= path.size();) {
    const auto to = std::min(path.find('/', from), path.size());
    parts.emplace_back(path.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

bool fits(const std::string& documented, const std::string& asked) {
  return documented == asked || (documented.starts_with('{') && !asked.empty());
}

std::string capitals(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return all;
}

} // namespace

documented_paths::documented_paths() {
  const auto document = ordered_json::parse(openapi_text());
  for (const auto& [path, item] : document.at("paths").items()) {
    documented_path one{.parts = parts_of(path), .methods = ""};
    for (const auto method : methods)
      if (item.contains(method))
        one.methods += (one.methods.empty() ? "" : ", ") + capitals(method);
    paths_.push_back(std::move(one));
  }
}

std::string documented_paths::methods_of(std::string_view path) const {
  const auto asked = parts_of(path);
  const auto found = std::ranges::find_if(paths_, [&](const documented_path& p) {
    return std::ranges::equal(p.parts, asked, fits);
  });
  return found == paths_.end() ? std::string() : found->methods;
}

} // namespace clade
