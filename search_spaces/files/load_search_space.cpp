// A search-space file:
//
//   include = ["hyperparameters.toml"]    files that are taken over, relative to this one
//   image = true                          examples are images; or sequence = true: they
//                                         are sequences; vectors otherwise
//   merge = ["add", "concat"]             how edges meet
//   [limits]                              see network_limits and grammar
//   [operators.conv]                      weight, and the settings of the operator's row
//   [hyperparameters]                     any names; forms as in parameter_reader.cpp
//
// The entries of a file replace those of its includes: an operator as a whole (weight = 0
// takes it away), a limit or a hyperparameter by itself. A file that several include is
// read once, before the first of them. Files are read depth first into one draft, which
// knows the place of everything (space_draft.hpp), and the draft becomes the space.
#include "search_spaces/files/load_search_space.hpp"

#include "genome/base/whole_file.hpp"
#include "search_spaces/files/built_in.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace clade {

namespace {

using path = std::filesystem::path;

tl::unexpected<error> refuse(const std::string& place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
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
  if (!failed && bytes > most_toml_file_bytes)
    return refuse(file.string(), "is larger than 1 MiB, which no search space is");
  return read_whole_file(file, {.most_bytes = most_toml_file_bytes});
}

/// Stored spaces keep the names that their genomes have; only files are read with these.
void use_american_hyperparameters(toml::table& document) {
  auto* table = document["hyperparameters"].as_table();
  if (table == nullptr)
    return;
  use_american_keys(*table);
  for (auto&& [name, domain] : *table)
    if (auto* form = domain.as_table(); form != nullptr)
      if (auto* when = (*form)["when"].as_table(); when != nullptr)
        use_american_keys(*when);
}

/// Reads a file and, before it, its includes, each file once, however many include it.
class file_reader {
public:
  expected<void> read(const path& file);
  [[nodiscard]] const space_draft& draft() const { return draft_; }

private:
  expected<void> read_includes(const toml::table& document, const path& file);
  expected<void> include(const std::string& name, const path& file,
                         const std::string& place);

  space_draft draft_;
  std::vector<path> open_; ///< The files that led to the one that is read.
  std::set<path> read_;    ///< All files that were begun.
};

expected<void> file_reader::read(const path& file) {
  auto text = read_text(file);
  if (!text)
    return tl::unexpected(std::move(text.error()));
  auto document = parse_toml(*text, file.string());
  if (!document)
    return tl::unexpected(std::move(document.error()));
  open_.push_back(std::filesystem::weakly_canonical(file));
  read_.insert(open_.back());
  if (auto included = read_includes(*document, file); !included)
    return included;
  open_.pop_back();
  use_american_hyperparameters(*document);
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
    return refuse(
        at.place(node->source()),
        fmt::format(
            "include is {}, but must be a list of files: [\"hyperparameters.toml\"]",
            describe(*node)));
  for (const toml::node& item : *list) {
    const auto name = item.value_exact<std::string>();
    if (!name || name->empty())
      return refuse(at.place(item.source()),
                    fmt::format("include has {} in its list, which is no file's name",
                                describe(item)));
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
    return fail_in(
        place, {error_kind::not_found, fmt::format("include \"{}\": there is no file {}",
                                                   name, target.string())});
  const auto known = std::filesystem::weakly_canonical(target);
  if (std::ranges::find(open_, known) != open_.end())
    return refuse(place,
                  fmt::format("include \"{}\": that file includes this one", name));
  if (read_.contains(known))
    return {};
  if (open_.size() > deepest_include)
    return refuse(place, fmt::format("files include each other more than {} deep",
                                     deepest_include));
  if (read_.size() == most_included_files)
    return refuse(
        place, fmt::format("a search space has at most {} files", most_included_files));
  return read(target);
}

const built_in_file* find_built_in(std::string_view name) {
  const auto all = built_in_files();
  const auto at = std::ranges::find(all, name, &built_in_file::name);
  return at == all.end() ? nullptr : &*at;
}

/// Reads a built-in file and, before it, its includes, which are built in too.
expected<void> read_built_in(std::string_view name, space_draft& draft) {
  const built_in_file* file = find_built_in(name);
  if (file == nullptr)
    return fail(error_kind::internal, std::string(name) + " is not built in");
  auto document = parse_toml(file->text, name);
  if (!document)
    return tl::unexpected(std::move(document.error()));
  if (const auto* includes = (*document)["include"].as_array())
    for (const toml::node& item : *includes)
      if (auto read = read_built_in(item.value_or(std::string()), draft); !read)
        return read;
  complaints wrong{std::string(name)};
  read_document(*document, draft, wrong);
  if (wrong.first())
    return tl::unexpected(*wrong.first());
  return {};
}

std::string without_ending(std::string_view name) {
  if (name.ends_with(".toml"))
    name.remove_suffix(5);
  return std::string(name);
}

} // namespace

std::vector<std::string> built_in_spaces() {
  return {"cells",    "darts",    "envelope", "grammar", "image",
          "mlp",      "mobile",   "nas201",   "photo",   "recurrent",
          "residual", "sequence", "series",   "tabular", "vision_transformer"};
}

bool is_built_in_space(std::string_view name) {
  const auto all = built_in_spaces();
  return std::ranges::find(all, without_ending(name)) != all.end();
}

expected<search_space> load_built_in_space(std::string_view name) {
  const std::string plain = without_ending(name);
  space_draft draft;
  if (auto done = read_built_in(plain + ".toml", draft); !done)
    return tl::unexpected(std::move(done.error()));
  return assemble(draft, plain);
}

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
  auto document = parse_toml(text, name);
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
