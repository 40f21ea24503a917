#include "actors/node/node_work.hpp"

#include "actors/node/process_cores.hpp"
#include "actors/node/process_status.hpp"
#include "engine/config/experiment/fitness_source.hpp"
#include "engine/evaluation/process/process_table.hpp"
#include "engine/export/torch/untrained.hpp"
#include "engine/search/strategies/registry/registry.hpp"

#include <sys/resource.h>

#include <filesystem>
#include <string>

namespace clade {

namespace {

/// From now on this process may take that many bytes more. Private memory is what is
/// limited (RLIMIT_DATA): an allocation beyond it fails, which the fitness function
/// reports as an outcome.
expected<void> limit_memory(std::uint64_t more_bytes) {
  const auto used = status_bytes("VmData");
  const auto most = used + more_bytes;
  const rlimit limit{.rlim_cur = most, .rlim_max = RLIM_INFINITY};
  if (used == 0 || setrlimit(RLIMIT_DATA, &limit) != 0)
    return fail(error_kind::io, "cannot limit the memory of the node process");
  return {};
}

// Nobody goes on with a run that has not been heard of for so long.
constexpr auto longest_kept = std::chrono::days(7);

/// This run's folder on this machine for what it keeps of that kind; empty where none can
/// be made.
std::filesystem::path kept_folder(const char* kind, std::uint64_t run) {
  namespace fs = std::filesystem;
  const auto cache = users_cache().folder;
  if (cache.empty() || run == 0)
    return {};
  std::error_code failed;
  const auto all = cache / kind;
  const auto folder = all / std::to_string(run);
  fs::create_directories(folder, failed);
  if (failed)
    return {};
  for (const auto& old : fs::directory_iterator(all, failed))
    if (const auto changed = old.last_write_time(failed);
        !failed && fs::file_time_type::clock::now() - changed > longest_kept)
      fs::remove_all(old.path(), failed);
  return folder;
}

} // namespace

std::filesystem::path training_module() {
  return own_program().parent_path() / "libclade_training.so";
}

training_setup training_setup_of(const experiment& e, const std::string& device) {
  return {.training = e.training,
          .data = e.data,
          .space = e.space,
          .goal = e.objective,
          .seed = e.seed,
          .device = device,
          .branches = has_trait(e.evolution, &strategy_traits::branches)};
}

expected<void> check_machine(const experiment& e) {
  return e.traits().trains ? find_training(training_module())
                           : e.evaluator->check_machine();
}

expected<void> node_work::prepare(const experiment& e, const std::string& device,
                                  std::uint64_t run, const program_places& programs) {
  std::lock_guard lock(fitness_mutex_);
  seed_ = e.seed;
  trains_ = e.traits().trains;
  budget_ = {.epochs = full_epochs(e),
             .horizon = full_epochs(e),
             .time = e.limits.evaluation_time,
             .memory_bytes = e.limits.evaluation_memory};
  if (trains_)
    positions_ = kept_folder("positions", run);
  wall_time_ = e.limits.wall_time;
  grace_ = e.evaluator->grace();
  if (e.traits().runs_program)
    logs_ = programs.logs.empty() ? kept_folder("logs", run) : programs.logs;
  if (slots_of_training(e) > 1 && !e.training.distribution.by_team())
    if (auto all = use_cores_of_parent(); !all)
      return all;
  auto made = trains_ ? load_training(training_module(), training_setup_of(e, device))
                      : make_fitness(e, {.write_network = write_untrained,
                                         .hidden = programs.hidden,
                                         .groups = programs.groups});
  if (!made)
    return tl::unexpected(made.error());
  fitness_ = std::move(*made);
  return fitness_->warm_up().and_then([&](std::uint64_t rounding) -> expected<void> {
    rounding_ = rounding;
    return budget_.memory_bytes == 0 ? expected<void>{}
                                     : limit_memory(budget_.memory_bytes);
  });
}

budget node_work::budget(const clade::budget& said) const {
  auto b = budget_;
  if (said.epochs != 0)
    b.epochs = said.epochs;
  if (said.time.count() != 0)
    b.time = said.time;
  b.threads = said.threads;
  return b;
}

// In a run by minutes trainings may be shorter than a test, which has as many examples
// however short they are.
std::chrono::milliseconds
node_work::longest_test(std::chrono::milliseconds at_least) const {
  return budget_.time.count() == 0 ? budget_.time
                                   : std::max({budget_.time, wall_time_, at_least});
}

job node_work::limited(job j) const {
  j.seed = seed_;
  j.budget = budget(j.budget);
  j.positions = positions_;
  j.logs = logs_;
  return j;
}

node_work::occupation::occupation(node_work& work, const task_id& task,
                                  std::uint64_t lease, std::chrono::milliseconds limit)
    : work_(work) {
  if (limit.count() != 0)
    limit += work.grace_;
  std::lock_guard lock(work_.current_mutex_);
  work_.current_ =
      current{.task = task, .lease = lease, .since = clock::now(), .limit = limit};
}

node_work::occupation::~occupation() {
  std::lock_guard lock(work_.current_mutex_);
  work_.current_.reset();
}

namespace {

/// Lets this thread use cores of other slots, if the budget has several threads.
expected<void> cores_for(const budget& b) {
  return b.threads > 1 ? use_cores_of_parent() : expected<void>{};
}

} // namespace

evaluated_job node_work::evaluate(candidate_id of, std::uint64_t lease, job j,
                                  progress& p) {
  std::lock_guard lock(fitness_mutex_);
  j = limited(std::move(j));
  const occupation here(*this, {of, task_type::train}, lease, j.budget.time);
  if (const auto cores = cores_for(j.budget); !cores) {
    evaluated_job failed{.evaluation = {.id = of, .outcome = outcome::crashed},
                         .machine_failed = true};
    failed.evaluation.reason = cores.error().message;
    return failed;
  }
  return fitness_->evaluate(j, p);
}

// The last of a lineage is examined instead of evaluated; its evaluation is a success
// that nobody reads.
expected<examination> node_work::examine(std::uint64_t lease, job j, const bytes& weights,
                                         std::vector<job> before, progress& p) {
  std::lock_guard lock(fitness_mutex_);
  const auto id = j.id;
  expected<examination> tested = fail(error_kind::internal, "nothing was examined");
  bool examining = false;
  const auto done = evaluate_lineage(std::move(before), std::move(j), [&](job one) {
    examining = one.id == id;
    const occupation here(*this, {id, task_type::test}, lease,
                          examining ? longest_test() : budget(one.budget).time);
    if (!examining)
      return fitness_->evaluate(limited(std::move(one)), p);
    tested = fitness_->examine(limited(std::move(one)), weights);
    return evaluated_job{.evaluation = {.id = id}};
  });
  if (!examining)
    return fail(error_kind::io, done.evaluation.reason);
  return tested;
}

expected<composition> node_work::compose(std::uint64_t lease,
                                         std::span<const trained_member> members,
                                         const clade::budget& said,
                                         composition_purpose purpose) {
  std::lock_guard lock(fitness_mutex_);
  // Whoever puts it together leaves out what there is no time for; this is for one who
  // hangs.
  const occupation here(*this, {0, task_type::compose}, lease, longest_test(said.time));
  if (auto cores = cores_for(said); !cores)
    return tl::unexpected(cores.error());
  return fitness_->compose(members, seed_, budget(said), purpose);
}

expected<std::optional<examination>> node_work::baseline(std::uint64_t lease) {
  std::lock_guard lock(fitness_mutex_);
  const occupation here(*this, {0, task_type::test}, lease, longest_test());
  // The model beside the champion is fitted however short a candidate's time is.
  constexpr std::chrono::seconds least{10};
  auto budget = budget_;
  if (budget.time.count() > 0)
    budget.time = std::max<decltype(budget.time)>(budget.time, least);
  return fitness_->baseline(seed_, budget);
}

void node_work::drop(std::uint64_t lease) {
  std::lock_guard lock(current_mutex_);
  dropped_.insert(lease);
  if (const auto found = teams_.find(lease); found != teams_.end())
    found->second->drop();
}

bool node_work::dropped(std::uint64_t lease) const {
  std::lock_guard lock(current_mutex_);
  return dropped_.contains(lease);
}

void node_work::forget_dropped(std::uint64_t lease) {
  std::lock_guard lock(current_mutex_);
  dropped_.erase(lease);
  teams_.erase(lease);
}

void node_work::open_to_teams(std::shared_ptr<team_entrance> entrance) {
  std::lock_guard lock(current_mutex_);
  entrance_ = std::move(entrance);
}

std::shared_ptr<node_team> node_work::begin_team(std::uint64_t lease,
                                                 std::size_t shares) {
  std::lock_guard lock(current_mutex_);
  if (!entrance_)
    return nullptr;
  return teams_[lease] = std::make_shared<node_team>(shares, entrance_);
}

std::shared_ptr<node_team> node_work::team_of(std::uint64_t lease) const {
  std::lock_guard lock(current_mutex_);
  const auto found = teams_.find(lease);
  return found == teams_.end() ? nullptr : found->second;
}

std::optional<node_work::current> node_work::at_work() const {
  std::lock_guard lock(current_mutex_);
  return current_;
}

} // namespace clade
