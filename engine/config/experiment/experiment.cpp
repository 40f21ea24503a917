// A file becomes an experiment in three steps: the document with its overrides
// (document.hpp), its sections with the search space that it names (sections.cpp), and
// what only several of them together can be judged by (`problem_of`, once the data is
// read).

#include "engine/config/experiment/experiment.hpp"

#include "engine/config/experiment/sections.hpp"
#include "engine/data/bytes/folded_text.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/formats/unread_kinds.hpp"
#include "engine/data/reading/array_file.hpp"
#include "engine/search/core/known_points.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/files/built_in.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/files/seeds.hpp"
#include "search_spaces/operators/variation.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

constexpr std::size_t max_name_bytes = 64;

// The built-in space that fits the data's shape.
search_space choose_space(table_reader& t, const experiment& e, document& d) {
  if (!e.traits().trains) {
    t.fail("file", "search_space.file is missing: it says what networks are made of, "
                   "file = \"tabular\" or \"residual\" or a file of yours");
    return {};
  }
  if (d.wrong)
    return {};
  const auto found = layout_of(e.data);
  auto space = found ? load_built_in_space(*found == layout::image      ? "residual"
                                           : *found == layout::sequence ? "series"
                                                                        : "tabular")
                     : tl::unexpected(found.error());
  if (space)
    return std::move(*space);
  d.wrong = std::move(space).error();
  return {};
}

// Notes what is wrong with the space's file there, unless the message has its own place.
search_space load_space(table_reader& t, const experiment& e,
                        const std::filesystem::path& folder, document& d) {
  std::string name;
  std::filesystem::path file;
  std::string seeds = "space";
  t.read("file", name);
  t.read_path("file", file, folder);
  t.read("seeds", seeds);
  t.finish();
  if (seeds != "space" && seeds != "none")
    t.fail("seeds", fmt::format("search_space.seeds is \"{}\": it must be \"space\", "
                                "those of the space, or \"none\"",
                                seeds));
  const auto with_seeds = [&](search_space space) {
    if (seeds == "none")
      space.seeds.clear();
    return space;
  };
  if (file.empty())
    return with_seeds(choose_space(t, e, d));
  std::error_code ignored;
  const bool built_in =
      is_built_in_space(name) && !std::filesystem::exists(file, ignored);
  if (!built_in && !std::filesystem::exists(file, ignored)) {
    t.fail("file",
           fmt::format("search_space.file: {} is not there; \"tabular\" and \"mlp\" (for "
                       "tables), \"residual\", \"photo\", \"mobile\", \"image\" and "
                       "\"series\" are built in",
                       file.string()));
    return {};
  }
  auto space = built_in ? load_built_in_space(name) : load_search_space(file);
  if (space)
    return with_seeds(std::move(*space));
  if (!d.wrong)
    d.wrong = std::move(space).error();
  return {};
}

// Such as /dev/fd/63, which a shell writes for <(...): neither a name nor a folder.
bool is_passing(const std::filesystem::path& file) {
  std::error_code unknown;
  return file == "/dev/stdin" || file.parent_path() == "/dev/fd"
         || !std::filesystem::is_regular_file(file, unknown);
}

// No TOML begins like JSON, HTML or ARFF, nor is it binary.
bool may_be_toml(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool binary = std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < '\t' || (c > '\r' && c < ' ');
  });
  return !binary
         && (first == std::string_view::npos
             || std::string_view("{<@").find(text[first]) == std::string_view::npos);
}

// Reads a file that is to be an experiment. Data, which people name by mistake, is told
// by its first bytes, however large it is.
expected<std::string> read_experiment_text(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  const bool large = !unknown && size > most_toml_file_bytes;
  const auto read =
      large ? read_front(file, telling_bytes)
            : read_file(file, {.most_bytes = most_toml_file_bytes, .streams = true})
                  .map([](file_bytes&& all) { return std::move(all.bytes); });
  // Data of a kind that is not read is no experiment either.
  if (read && !may_be_toml(*read))
    if (auto fine = refuse_unread_kind(file, *read); !fine)
      return tl::unexpected(std::move(fine).error());
  if (read && looks_like_data(file, *read))
    return fail_in(
        file.string(),
        {error_kind::invalid_input,
         fmt::format(
             "this is data, not an experiment; `clade new {}` makes an experiment of it",
             file.string())});
  if (read && large)
    return fail_in(file.string(), {error_kind::invalid_input,
                                   "is larger than 1 MiB; is it an experiment file?"});
  return read;
}

// An experiment that has no name takes that of its file.
void name_after(const std::filesystem::path& file, document& d) {
  if (!d.root.contains("experiment"))
    d.root.insert("experiment", toml::table{});
  auto* head = d.root["experiment"].as_table();
  if (head != nullptr && !head->contains("name"))
    head->insert("name", is_passing(file) ? "experiment" : experiment_name(file));
}

bool is_number(std::string_view text, unsigned low, unsigned high) {
  const auto n = parse_number<unsigned>(text);
  return n && *n >= low && *n <= high;
}

constexpr unsigned most_slots = 1024;

bool is_slot(std::string_view text) {
  if (text.starts_with("cuda")) {
    const std::size_t star = text.find('*');
    const std::string_view card = text.substr(0, star);
    return (star == std::string_view::npos
            || is_number(text.substr(star + 1), 1, most_slots))
           && (card == "cuda"
               || (card.starts_with("cuda:")
                   && is_number(card.substr(5), 0, most_slots)));
  }
  return is_number(text.starts_with("cpu:") ? text.substr(4) : text, 1, most_slots);
}

} // namespace

std::string experiment_name(const std::filesystem::path& file) {
  std::string name = in_latin_letters(plain_name(file));
  for (char& c : name)
    if (!is_name_character(c))
      c = '-';
  name.resize(std::min(name.size(), max_name_bytes));
  if (std::ranges::all_of(name, [](char c) { return c == '-'; }))
    return "data";
  if (name.front() == '.' || name.front() == '-')
    name.insert(0, "data");
  return name;
}

namespace {

bool reads_in_flight(const evolution_params& p) {
  const auto* row = row_of(p.strategy);
  return row != nullptr
         && (row->traits.steady
             || (row->parts != nullptr
                 && std::ranges::any_of(row->parts(p), reads_in_flight)));
}

} // namespace

std::size_t usual_in_flight(std::uint64_t population) {
  constexpr std::uint64_t least = 4;
  return std::clamp(population / 3, std::min(least, population), population);
}

std::size_t busy_in_flight(const experiment& e, std::size_t slots) {
  const auto usual = usual_in_flight(e.evolution.population);
  return std::max(usual, std::min(trainings_at_once(e, slots), e.evolution.population));
}

void choose_in_flight(experiment& e) {
  if (e.in_flight_open && reads_in_flight(e.evolution))
    e.evolution.in_flight = usual_in_flight(e.evolution.population);
}

bool ends_by_clock(const experiment& e) {
  return e.limits.wall_time.count() > 0 && e.final_stage.wanted();
}

std::string repeatability_text(const experiment& e) {
  const bool steady = reads_in_flight(e.evolution);
  if (steady && e.evolution.tell_order == "arrived")
    return "results count as they arrive: another run of this seed will differ, clade "
           "replay will not; evolution.tell_order = \"asked\" makes them equal";
  if (ends_by_clock(e))
    return "the clock ends this run: another run of this seed may differ, clade replay "
           "will not; without limits.wall_time they are equal";
  std::string text = "the same seed gives the same result on any number of slots";
  const bool may_be_short = e.traits().trains && e.limits.evaluation_time.count() > 0;
  if (e.limits.wall_time.count() > 0)
    text += ", unless limits.wall_time ends it";
  if (may_be_short)
    text += fmt::format("{} limits.evaluation_time shortens a training",
                        e.limits.wall_time.count() > 0 ? " or" : ", unless");
  if (steady)
    text += fmt::format(", {} candidates at once (evolution.in_flight)",
                        e.evolution.in_flight);
  if (e.traits().trains && e.training.arithmetic == arithmetic::native)
    text += ", on processors of one kind (training.arithmetic = \"portable\": on all)";
  return text;
}

std::uint32_t slots_of_training(const experiment& e) {
  return e.traits().trains ? e.training.distribution.devices : 1;
}

std::size_t trainings_at_once(const experiment& e, std::size_t slots) {
  return std::max<std::size_t>(1, slots / slots_of_training(e));
}

std::uint32_t full_epochs(const experiment& e) {
  return e.traits().trains ? e.training.epochs : e.evaluator->epochs();
}

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
      return fail(
          error_kind::invalid_input,
          fmt::format("local must be \"auto\", \"none\", a number of CPU slots, "
                      "\"cpu:N\", \"cuda\", or a list such as [\"cuda:0*2\", \"cpu:2\"], "
                      "each number at most {}; \"{}\" is none of these",
                      most_slots, slot));
    if (comma == std::string_view::npos)
      return {};
    rest.remove_prefix(comma + 1);
  }
}

expected<experiment> load_experiment(const std::filesystem::path& named,
                                     std::span<const std::string> overrides) {
  const auto file = named == "-" ? std::filesystem::path("/dev/stdin") : named;
  const auto read = read_experiment_text(file);
  if (!read)
    return tl::unexpected(read.error());
  auto d = parse_document(*read, file.string());
  if (!d)
    return tl::unexpected(std::move(d).error());
  for (const std::string& o : overrides)
    if (auto applied = apply_override(*d, o); !applied)
      return tl::unexpected(std::move(applied).error());
  name_after(file, *d);
  const auto folder = is_passing(file) ? std::filesystem::path() : file.parent_path();
  const auto find_space = [&](table_reader& t, const experiment& e) {
    return has_own_space(*d) ? read_own_space(t, *d) : load_space(t, e, folder, *d);
  };
  return read_experiment(*d, folder, find_space,
                         has_own_space(*d) ? written_by::clade : written_by::people);
}

std::vector<std::string> fit_seeds(experiment& e, const data_set* data) {
  const auto p = data == nullptr ? e.synthetic_problem : data->as_problem();
  auto said = leave_out_misfits(e.space, p);
  const auto points = leave_out_points(e.evolution, e.space, p);
  said.insert(said.end(), points.begin(), points.end());
  return said;
}

expected<problem> problem_of(const experiment& e, const data_set* data) {
  const problem p = data == nullptr ? e.synthetic_problem : data->as_problem();
  if (e.space.input != layout::vector && p.input.layout() != e.space.input)
    return fail(error_kind::invalid_input,
                fmt::format("{}: an example has the shape {}, but the search space {} "
                            "wants {}s: give data.shape = {}, or choose another space",
                            data == nullptr ? e.name : e.data.file.string(),
                            to_text(p.input), e.space.name, to_text(e.space.input),
                            sizes_text(e.space.input)));
  if (data != nullptr) {
    const auto asked = asked_for(e.data.task, e.objective, e.training.metrics);
    auto known = check_classes(e.training.class_weights, data->classes).and_then([&] {
      return check_classes(asked, data->classes);
    });
    if (!known)
      return fail_in(e.name, std::move(known).error());
  }
  auto random = derive(e.seed, purpose::sample, 0, 0);
  if (auto fits = sample(e.space, p, random); !fits)
    return fail_in(e.space_place, std::move(fits).error());
  if (auto fits = check_seeds(e.space, p); !fits)
    return fail_in(e.space_place, std::move(fits).error());
  return p;
}

run_rules rules_of(const experiment& e) {
  return {
      .evolution = e.evolution,
      .objective = e.objective,
      .seed = e.seed,
      .cases = selects_by_cases(e.evolution) ? known_aims(e) : std::vector<aim>{},
      .space = std::make_shared<const search_space>(e.space),
      .final_stage = e.traits().trains ? e.final_stage : final_params{},
      .read_fork = [](const run_forked& forked) {
        return parse_resolved(forked.experiment, "the fork's experiment").map(rules_of);
      }};
}

} // namespace clade
