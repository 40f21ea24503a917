#include "tools/run/stored_run.hpp"

#include "engine/config/experiment/fitness_source.hpp"
#include "engine/store/sqlite/run_folder.hpp"

#include <fmt/format.h>

namespace clade {

expected<opened_run> open_stored_run(const std::string& name) {
  return find_store(name).and_then([](const std::filesystem::path& file) {
    return store::open_to_read(file).and_then([&](store s) {
      return s.hold().map([&] { return opened_run{.s = std::move(s), .file = file}; });
    });
  });
}

expected<folded_run> fold_run(const store& file, const std::string& origin) {
  folded_run result;
  auto folded_all =
      file.for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        if (const auto* started = std::get_if<run_started>(&r)) {
          auto resolved = parse_resolved(started->experiment, origin);
          if (!resolved)
            return tl::unexpected(resolved.error());
          auto state = make_run_state(rules_of(*resolved));
          if (!state)
            return tl::unexpected(state.error());
          result = {.experiment = std::move(*resolved),
                    .search = started->search,
                    .state = std::move(*state)};
        }
        auto applied = apply(result.state, r);
        if (const auto* forked = std::get_if<run_forked>(&r); forked && applied) {
          auto resolved = parse_resolved(forked->experiment, origin);
          if (!resolved)
            return tl::unexpected(resolved.error());
          result.experiment = std::move(*resolved);
          result.search = forked->search;
        }
        return applied;
      });
  if (!folded_all)
    return tl::unexpected(folded_all.error());
  return result;
}

expected<replay_rules> replay_rules_of(const experiment& e) {
  const auto source = load_fitness_source(e);
  if (!source)
    return tl::unexpected(source.error());
  return problem_of(e, source->examples()).map([&](const problem& p) {
    return replay_rules{.fold = rules_of(e),
                        .space = e.space,
                        .problem = p,
                        .search = search_hash(e, source->checksum)};
  });
}

error nothing_recorded(const std::filesystem::path& store_file) {
  const auto log = store_file.filename().string() + "-wal";
  const auto with_log = fmt::format("{} and {}", store_file.filename().string(), log);
  std::error_code failed;
  const bool began =
      std::filesystem::exists(store_file.parent_path() / "head.log", failed);
  return {
      error_kind::corrupt,
      fmt::format(
          "{}: holds no record{}, or start the run again: clade run FILE",
          store_file.string(),
          began ? fmt::format(", and yet the run had begun, as head.log beside it shows: "
                              "its log {} is lost, or was left behind when the run was "
                              "copied; put it back beside it, or copy {} together",
                              log, with_log)
                : fmt::format(": the run was killed at its start, or this file was "
                              "copied without its log {}; copy {} together",
                              log, with_log))};
}

} // namespace clade
