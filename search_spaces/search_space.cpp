// A search-space file:
//
//   include = ["hyperparameters.toml"]    files that are taken over, relative to this one
//   image = true                          examples are images; vectors otherwise
//   merge = ["add", "concat"]             how edges meet
//   [limits]                              see network_limits and grammar
//   [operators.conv]                      weight, and the settings of the operator's row
//   [hyperparameters]                     any names; forms as in parameter_reader.cpp
//
// What a file says replaces what its includes say: an operator as a whole (weight = 0
// takes it away), a limit or a hyperparameter by itself. Files are read depth first into
// one draft, which knows the place of everything (space_draft.hpp), and the draft becomes
// the space.
#include "search_spaces/search_space.hpp"

#include "search_spaces/space_draft.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace clade {

namespace {

constexpr std::uintmax_t most_bytes = 1 << 20;

using path = std::filesystem::path;

tl::unexpected<error> refuse(const std::string& place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

expected<toml::table> parse(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    const auto line = std::max<toml::source_index>(e.source().begin.line, 1);
    return refuse(origin + ":" + std::to_string(line),
                  "not TOML: " + std::string(e.description()));
  }
}

expected<std::string> read_text(const path& file) {
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (!std::filesystem::exists(status))
    return fail_in(file.string(),
                   {error_kind::not_found, "no such file; name a search space such as "
                                           "search_spaces/image.toml"});
  if (!std::filesystem::is_regular_file(status))
    return refuse(file.string(), "is no file; name a search space such as "
                                 "search_spaces/image.toml");
  const auto bytes = std::filesystem::file_size(file, failed);
  if (!failed && bytes > most_bytes)
    return refuse(file.string(), "is larger than 1 MiB, which no search space is");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || (!text && bytes > 0))
    return fail_in(file.string(), {error_kind::io, "cannot be read"});
  return text.str();
}

/// Reads a file and, before it, its includes. `open` are the files that led to it.
class file_reader {
public:
  expected<void> read(const path& file);
  [[nodiscard]] const space_draft& draft() const { return draft_; }

private:
  expected<void> read_includes(const toml::table& document, const path& file);
  expected<void> include(const std::string& name, const path& file,
                         const std::string& place);

  space_draft draft_;
  std::vector<path> open_;
};

expected<void> file_reader::read(const path& file) {
  auto text = read_text(file);
  if (!text)
    return tl::unexpected(std::move(text.error()));
  auto document = parse(*text, file.string());
  if (!document)
    return tl::unexpected(std::move(document.error()));
  open_.push_back(std::filesystem::weakly_canonical(file));
  if (auto included = read_includes(*document, file); !included)
    return included;
  open_.pop_back();
  complaints wrong(file.string());
  read_document(*document, draft_, wrong);
  if (wrong.first())
    return tl::unexpected(*wrong.first());
  return {};
}

expected<void> file_reader::read_includes(const toml::table& document, const path& file) {
  const toml::node* node = document.get("include");
  if (node == nullptr)
    return {};
  const complaints at(file.string());
  const auto* list = node->as_array();
  if (list == nullptr)
    return refuse(at.place(node->source()),
                  "include is " + describe(*node)
                      + ", but must be a list of files: [\"hyperparameters.toml\"]");
  for (const toml::node& item : *list) {
    const auto name = item.value_exact<std::string>();
    if (!name || name->empty())
      return refuse(at.place(item.source()),
                    "include has " + describe(item)
                        + " in its list, which is no file's name");
    if (auto included = include(*name, file, at.place(item.source())); !included)
      return included;
  }
  return {};
}

expected<void> file_reader::include(const std::string& name, const path& file,
                                    const std::string& place) {
  const path target = (file.parent_path() / name).lexically_normal();
  std::error_code failed;
  if (!std::filesystem::is_regular_file(target, failed))
    return fail_in(place,
                   {error_kind::not_found,
                    "include \"" + name + "\": there is no file " + target.string()});
  if (std::ranges::find(open_, std::filesystem::weakly_canonical(target)) != open_.end())
    return refuse(place, "include \"" + name + "\": that file includes this one");
  return read(target);
}

} // namespace

expected<search_space> load_search_space(const std::filesystem::path& file) {
  try {
    file_reader reader;
    if (auto done = reader.read(file); !done)
      return tl::unexpected(std::move(done.error()));
    return assemble(reader.draft(), file.string());
  } catch (const std::filesystem::filesystem_error& e) {
    return fail_in(file.string(), {error_kind::io, e.code().message()});
  }
}

expected<search_space> parse_search_space(std::string_view text,
                                          std::string_view origin) {
  const std::string name(origin);
  auto document = parse(text, name);
  if (!document)
    return tl::unexpected(std::move(document.error()));
  complaints wrong(name);
  if (const toml::node* include = document->get("include"))
    wrong.note(include->source(),
               "include works in search-space files alone; write the tables here");
  space_draft draft;
  read_document(*document, draft, wrong);
  if (wrong.first())
    return tl::unexpected(*wrong.first());
  return assemble(draft, name);
}

} // namespace clade
