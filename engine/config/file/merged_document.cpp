#include "engine/config/file/merged_document.hpp"

#include "engine/data/formats/file_bytes.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

namespace fs = std::filesystem;

/// Takes over what `into` does not say, tables key by key.
void add_missing(toml::table& into, toml::table&& from) {
  for (auto&& [key, node] : from) {
    toml::node* there = into.get(key);
    if (there == nullptr)
      node.visit([&, &k = key](auto& n) { into.insert(k, std::move(n)); });
    else if (there->is_table() && node.is_table())
      add_missing(*there->as_table(), std::move(*node.as_table()));
  }
}

expected<merged_document> read_documents(const fs::path& file, int depth) {
  const auto read = read_file(file, {.most_bytes = most_toml_file_bytes});
  if (!read)
    return tl::unexpected(read.error());
  auto d = parse_document(read->bytes, file.string());
  if (!d)
    return tl::unexpected(std::move(d).error());
  merged_document result{std::move(*d), to_text(hash128(read->bytes))};
  auto& root = result.says.root;
  const toml::node* include = root.get("include");
  if (include == nullptr)
    return result;
  const auto place = result.says.place("include", include);
  const auto name = include->value<std::string>();
  if (!name)
    return fail_in(place, {error_kind::invalid_input,
                           "include must be a file, include = \"spaces/x.toml\""});
  if (depth == deepest_include)
    return fail_in(place, {error_kind::invalid_input,
                           fmt::format("files include each other more than {} deep",
                                       deepest_include)});
  const fs::path other = (file.parent_path() / *name).lexically_normal();
  std::error_code ignored;
  if (!fs::exists(other, ignored))
    return fail_in(place, {error_kind::not_found,
                           fmt::format("include: {} is not there", other.string())});
  auto included = read_documents(other, depth + 1);
  if (!included)
    return included;
  add_missing(root, std::move(included->says.root));
  root.erase("include");
  result.checksums += included->checksums;
  return result;
}

} // namespace

expected<merged_document> read_merged(const fs::path& file) {
  return read_documents(file, 0);
}

} // namespace clade
