// The new store is filled under another name and takes its own only when it is complete:
// killed before, there is no run.
#include "tools/run/forked_run.hpp"

#include "engine/store/sqlite/run_folder.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t records_at_once = 1000;

bool is_observation(const record& r) {
  return decisive_bytes(r).empty();
}

/// A run as it was at the start of a generation.
struct beginning {
  clade::experiment experiment;
  run_state state;
  std::uint64_t last = 0; ///< The sequence of the last record that belongs to it.
};

/// Whether this record is no more of the start of that generation, which is reached.
bool beyond(const run_state& state, const record& r, std::uint64_t generation) {
  return state.started && state.generations.size() == generation
         && !std::holds_alternative<run_forked>(r);
}

expected<void> take(beginning& b, const record& r, const std::string& origin) {
  const auto* started = std::get_if<run_started>(&r);
  const auto* forked = std::get_if<run_forked>(&r);
  if (started != nullptr || forked != nullptr) {
    auto e = parse_resolved(started != nullptr ? started->experiment : forked->experiment,
                            origin);
    if (!e)
      return tl::unexpected(e.error());
    b.experiment = std::move(*e);
  }
  if (started != nullptr) {
    auto state = make_run_state(rules_of(b.experiment));
    if (!state)
      return tl::unexpected(state.error());
    b.state = std::move(*state);
  }
  return apply(b.state, r);
}

expected<beginning> find_beginning(const opened_run& run, std::uint64_t generation) {
  beginning b;
  bool reached = false;
  const auto read = run.s.for_each(
      [&](std::uint64_t sequence, std::int64_t, const record& r) -> expected<void> {
        if (is_observation(r))
          return {};
        if (beyond(b.state, r, generation)) {
          reached = true;
          return fail(error_kind::internal, "the rest is not read");
        }
        b.last = sequence;
        return take(b, r, run.file.string());
      });
  if (!read && !reached)
    return tl::unexpected(read.error());
  const auto closed = b.state.generations.size();
  if (closed < generation)
    return fail(error_kind::invalid_input,
                fmt::format("--from {}: {} has {} generations that are complete, so that "
                            "a fork may begin from 0 to {}",
                            generation, run.file.string(), closed, closed));
  return b;
}

/// Genomes that live on must fit what networks are made of from now on.
expected<void> check_genomes(const run_state& state, const replay_rules& rules) {
  auto all = state.search->population();
  all.insert(all.end(), state.best.begin(), state.best.end());
  for (const auto& [id, c] : state.open)
    all.push_back({id, c.genome, {}});
  for (const auto& one : all)
    if (auto fits = decode(rules.space, *one.genome, rules.problem); !fits)
      return fail(error_kind::invalid_input,
                  fmt::format("the search space does not fit what is taken over: #{}: {}",
                              one.id, fits.error().message));
  return {};
}

std::string name_of(const std::filesystem::path& file) {
  const auto path = std::filesystem::absolute(file).lexically_normal();
  return path.filename() == store_file_name ? path.parent_path().filename().string()
                                            : path.filename().string();
}

/// Returns the candidates that the test data may meet. Weights that no training made are
/// a function of the seed.
std::set<candidate_id> with_weights(const beginning& b, const experiment& e) {
  std::set<candidate_id> ids;
  if (e.traits().trains || e.seed == b.experiment.seed)
    for (const auto& one : b.state.best)
      ids.insert(one.id);
  return ids;
}

/// Copies what belongs to the beginning, with the weights of these candidates as far as
/// they are kept, and adds the fork.
expected<void> fill(store& fresh, const opened_run& run, const beginning& b,
                    const run_forked& forked, const std::set<candidate_id>& keep) {
  std::vector<entry> entries;
  const auto flush = [&]() -> expected<void> {
    return fresh.append(std::exchange(entries, {})).map([](store::place) {});
  };
  const auto add = [&](const record& r) -> expected<void> {
    entry one{r, {}};
    if (const auto* e = std::get_if<candidate_evaluated>(&r);
        e != nullptr && keep.contains(e->evaluated.id)) {
      auto weights = run.s.find_weights(e->evaluated.id);
      if (!weights)
        return tl::unexpected(weights.error());
      one.weights = std::move(*weights);
    }
    entries.push_back(std::move(one));
    return entries.size() < records_at_once ? expected<void>{} : flush();
  };
  bool complete = false;
  const auto copied = run.s.for_each(
      [&](std::uint64_t sequence, std::int64_t, const record& r) -> expected<void> {
        complete = sequence > b.last;
        if (complete)
          return fail(error_kind::internal, "the rest is not read");
        return is_observation(r) ? expected<void>{} : add(r);
      });
  if (!copied && !complete)
    return tl::unexpected(copied.error());
  return add(forked).and_then(flush);
}

/// Returns the new run's folder.
expected<std::filesystem::path> write_fork(const opened_run& run, const beginning& b,
                                           const run_forked& forked,
                                           const experiment& e) {
  auto folder = make_run_folder(runs_folder(), e.name);
  if (!folder)
    return folder;
  const auto unfinished = *folder / (std::string(store_file_name) + ".new");
  std::error_code failed, ignored;
  // Its store is closed at the end, for the rename.
  const auto made = store::create(unfinished, e.objective).and_then([&](store fresh) {
    return fill(fresh, run, b, forked, with_weights(b, e));
  });
  if (!made) {
    std::filesystem::remove_all(*folder, ignored);
    return tl::unexpected(made.error());
  }
  std::filesystem::rename(unfinished, *folder / store_file_name, failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be renamed to {}: {}", unfinished.string(),
                            store_file_name, failed.message()));
  std::filesystem::remove(unfinished.string() + ".lock", ignored);
  return folder;
}

} // namespace

expected<forked_run> fork_run(const opened_run& run, const fork_params& params) {
  auto b = find_beginning(run, params.generation);
  if (!b)
    return tl::unexpected(b.error());
  const auto identity = run.s.identity();
  if (!identity)
    return tl::unexpected(identity.error());
  const auto changed = change_resolved(b->experiment, params.name, params.changes);
  if (!changed)
    return tl::unexpected(changed.error());
  if (auto fits = check_fork(b->state.rules, rules_of(*changed), params.generation);
      !fits)
    return tl::unexpected(fits.error());
  const auto rules = replay_rules_of(*changed);
  if (!rules)
    return tl::unexpected(rules.error());
  if (auto fits = check_genomes(b->state, *rules); !fits)
    return tl::unexpected(fits.error());
  const run_forked forked{.origin = name_of(run.file),
                          .identity = *identity,
                          .sequence = b->last,
                          .generation = params.generation,
                          .changes = params.changes,
                          .experiment = to_toml(*changed),
                          .seed = changed->seed,
                          .search = rules->search};
  if (auto applied = apply(b->state, forked); !applied)
    return tl::unexpected(applied.error());
  const auto best = b->state.best.empty() ? 0 : b->state.best.front().id;
  const auto weights = run.s.find_weights(best);
  if (!weights)
    return tl::unexpected(weights.error());
  const bool lacks = changed->traits().trains && weights->empty();
  return write_fork(run, *b, forked, *changed).map([&](std::filesystem::path folder) {
    return forked_run{std::move(folder), lacks ? best : 0};
  });
}

} // namespace clade
