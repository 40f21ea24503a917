// A file becomes an experiment in three steps: the document with its overrides
// (document.hpp), its sections with the search space that it names (sections.cpp), and
// what only several of them together can be judged by (`problem_of`, once the data is
// read).

#include "engine/config/experiment.hpp"

#include "engine/config/sections.hpp"
#include "engine/data/file_bytes.hpp"
#include "search_spaces/variation.hpp"

#include <charconv>

namespace clade {
namespace {

constexpr std::size_t max_experiment_bytes = 1 << 20;

// A resolved experiment (`to_toml`) has its operators itself.
bool has_own_space(const document& d) {
  return d.root["search_space"]["operators"].is_table();
}

// Notes what is wrong with the space's file there, unless the message has its own place.
search_space load_space_file(table_reader& t, const std::filesystem::path& folder,
                             document& d) {
  std::filesystem::path file;
  t.read_path("file", file, folder);
  t.finish();
  if (file.empty()) {
    t.fail("file",
           "search_space.file is missing: it says what networks are made of, file = "
           "\"../search_spaces/image.toml\"");
    return {};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    t.fail("file", "search_space.file: " + file.string() + " is not there");
    return {};
  }
  auto space = load_search_space(file);
  if (space)
    return std::move(*space);
  if (!d.wrong)
    d.wrong = std::move(space).error();
  return {};
}

bool is_number(std::string_view text, unsigned low, unsigned high) {
  unsigned n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  return status == std::errc{} && end == text.data() + text.size() && n >= low
         && n <= high;
}

bool is_slot(std::string_view text) {
  constexpr unsigned most = 1024;
  if (text.starts_with("cuda")) {
    const std::size_t star = text.find('*');
    const std::string_view card = text.substr(0, star);
    return (star == std::string_view::npos || is_number(text.substr(star + 1), 1, most))
           && (card == "cuda"
               || (card.starts_with("cuda:") && is_number(card.substr(5), 0, most)));
  }
  return is_number(text.starts_with("cpu:") ? text.substr(4) : text, 1, most);
}

} // namespace

expected<void> validate(const limits_params& params) {
  if (params.evaluation_time.count() < 0)
    return fail(error_kind::invalid_input, "evaluation_time must not be negative");
  if (params.wall_time.count() < 0)
    return fail(error_kind::invalid_input, "wall_time must not be negative");
  return {};
}

expected<void> validate(const slots_params& params) {
  if (params.local == "auto" || params.local == "none")
    return {};
  std::string_view rest = params.local;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view slot = rest.substr(0, comma);
    if (!is_slot(slot))
      return fail(error_kind::invalid_input,
                  "local must be \"auto\", \"none\", a number of CPU slots, \"cpu:N\", "
                  "\"cuda\", or "
                  "a list such as [\"cuda:0*2\", \"cpu:2\"]; \""
                      + std::string(slot) + "\" is none of these");
    if (comma == std::string_view::npos)
      return {};
    rest.remove_prefix(comma + 1);
  }
}

expected<experiment> load_experiment(const std::filesystem::path& file,
                                     std::span<const std::string> overrides) {
  const auto read = read_file(file);
  if (!read)
    return tl::unexpected(read.error());
  if (read->bytes.size() > max_experiment_bytes)
    return fail_in(file.string(), {error_kind::invalid_input,
                                   "is larger than 1 MiB; is it an experiment file?"});
  auto d = parse_document(read->bytes, file.string());
  if (!d)
    return tl::unexpected(std::move(d).error());
  for (const std::string& o : overrides)
    if (auto applied = apply_override(*d, o); !applied)
      return tl::unexpected(std::move(applied).error());
  const auto folder = file.parent_path();
  return read_experiment(*d, folder, [&](table_reader& t) {
    return has_own_space(*d) ? read_own_space(t, *d) : load_space_file(t, folder, *d);
  });
}

expected<problem> problem_of(const experiment& e, const data_set* data) {
  const problem p = data == nullptr ? e.synthetic_problem : data->as_problem();
  if (e.space.image && !p.input.is_image())
    return fail(
        error_kind::invalid_input,
        (data == nullptr ? e.name : e.data.file.string()) + ": an example has the shape "
            + to_text(p.input) + ", but the search space " + e.space.name
            + " wants images: give data.shape = [channels, height, width], or choose "
              "another space");
  auto random = derive(e.seed, purpose::sample, 0, 0);
  if (auto fits = sample(e.space, p, random); !fits)
    return fail_in(e.space_place, std::move(fits).error());
  return p;
}

run_rules rules_of(const experiment& e) {
  const bool by_cases =
      e.evolution.strategy == "generational" && e.evolution.selection == "lexicase";
  return {
      .evolution = e.evolution,
      .objective = e.objective,
      .seed = e.seed,
      .cases = by_cases ? known_aims(e) : std::vector<aim>{},
      .space = std::make_shared<const search_space>(e.space),
      .read_fork = [](const run_forked& forked) {
        return parse_resolved(forked.experiment, "the fork's experiment").map(rules_of);
      }};
}

} // namespace clade
