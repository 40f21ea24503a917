#include "tools/cli/base/run_problem.hpp"

#include "engine/config/experiment/fitness_source.hpp"
#include "engine/export/rows/run_history.hpp"

namespace clade {

expected<genome_hash> find_search(const store& s, const std::filesystem::path& file) {
  std::optional<genome_hash> found;
  const error enough{error_kind::internal, "the first is enough"};
  auto read =
      s.for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        if (const auto* started = std::get_if<run_started>(&r))
          found = started->search;
        return tl::unexpected(enough);
      });
  if (found)
    return *found;
  if (!read && read.error() != enough)
    return tl::unexpected(read.error());
  return fail_in(file.string(),
                 {error_kind::invalid_input, "nothing is recorded of this run"});
}

expected<run_problem> load_run_problem(const store& s,
                                       const std::filesystem::path& file) {
  auto e = read_experiment_of(s, file);
  if (!e)
    return tl::unexpected(e.error());
  auto source = load_fitness_source(*e);
  if (!source)
    return tl::unexpected(source.error());
  const auto search = find_search(s, file);
  if (!search)
    return tl::unexpected(search.error());
  if (search_hash(*e, source->checksum) != *search)
    return fail(error_kind::conflict,
                fitness_file(*e).string()
                    + " is not the data that the run was started with");
  auto wanted = problem_of(*e, source->examples());
  if (!wanted)
    return tl::unexpected(wanted.error());
  return run_problem{.experiment = std::move(*e),
                     .problem = std::move(*wanted),
                     .data = std::move(source->data)};
}

} // namespace clade
