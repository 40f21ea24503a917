#include "tools/run/session.hpp"

#include "actors/head/head.hpp"
#include "actors/transport/tls/keys.hpp"
#include "engine/run/steps/time_plan.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/machine/slots.hpp"
#include "tools/run/local_worker.hpp"
#include "tools/run/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto interval = 100ms;
// Longer than a node pauses between two looks for the head.
constexpr std::chrono::milliseconds nodes_return = 3s;

/// Slots that somebody ordered, on their way from the actors to this thread.
class ordered_slots {
public:
  void put(const std::string& slots) {
    std::lock_guard lock(mutex_);
    wanted_ = slots;
  }

  std::optional<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(wanted_, std::nullopt);
  }

private:
  std::mutex mutex_;
  std::optional<std::string> wanted_;
};

/// A session under way.
class session {
public:
  session(const session_params& params, session_observer& observer, head& h,
          local_worker& worker, ordered_slots& ordered, key_renewal& keys, run_log& log)
      : params_(params),
        observer_(observer),
        head_(h),
        worker_(worker),
        ordered_(ordered),
        keys_(keys),
        log_(log),
        shown_slots_(params.folder),
        watch_(params.folder / "worker.log",
               params.experiment.training.distribution.fit_bytes
                   ? 0
                   : slots_of_training(params.experiment),
               params.experiment.training.distribution.by_team() ? ""
                                                                 : " of one machine") {}

  /// Blocks until the session's end; returns how the run stands then.
  expected<run_progress> drive();

  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] bool out_of_time() const { return out_of_time_; }

private:
  /// Tells what happened since the last call.
  run_progress look(clock::time_point now);
  void end_if_wanted(clock::time_point now, const run_progress& progress);
  void leave();
  /// `used` is a share of the time that the run may take.
  void end_by_time(double used, const run_progress& progress);

  const session_params& params_;
  session_observer& observer_;
  head& head_;
  local_worker& worker_;
  ordered_slots& ordered_;
  key_renewal& keys_;
  run_log& log_;
  slots_file shown_slots_;
  slot_watch watch_;
  std::size_t generations_told_ = 0;
  std::size_t slots_ = 0;
  clock::time_point start_ = clock::now();
  bool interrupted_ = false, ending_ = false, out_of_time_ = false, leaving_ = false;
  run_clock clock_;
};

run_progress session::look(clock::time_point now) {
  auto progress = head_.progress(generations_told_);
  generations_told_ += progress.generations.size();
  const auto slots = head_.slots();
  slots_ = slots.slots.size();
  observer_.progressed(progress, slots);
  shown_slots_.update(slots);
  if (const auto missing = watch_.look(slots, progress.evaluated, now);
      missing && params_.experiment.slots.local != "none") {
    log_.write(*missing);
    observer_.warns(*missing);
  }
  return progress;
}

void session::end_if_wanted(clock::time_point now, const run_progress& progress) {
  const auto wall_time = params_.experiment.limits.wall_time;
  if (!leaving_ && params_.leaves && params_.leaves()) {
    leave();
  } else if (!interrupted_ && params_.interrupted && params_.interrupted()) {
    interrupted_ = ending_ = true;
    head_.stop("interrupted");
  } else if (!ending_ && wall_time.count() > 0) {
    end_by_time((now - start_) / std::chrono::duration<double>(wall_time), progress);
  }
}

void session::leave() {
  leaving_ = interrupted_ = ending_ = true;
  const auto said = fmt::format(
      "SIGTERM: what is in training has {} s to finish, then it keeps its position on "
      "this machine; the run ends within {} s, and clade resume goes on from there",
      local_worker::finishing_time.count(), local_worker::leaving_time.count());
  log_.write(said);
  observer_.warns(said);
  head_.leave("SIGTERM");
  worker_.leave();
}

void session::end_by_time(double used, const run_progress& progress) {
  const auto& e = params_.experiment;
  const final_means means{.slots = trainings_at_once(e, slots_),
                          .time = e.limits.wall_time,
                          .epochs = full_epochs(e)};
  const double an_epoch = progress.best ? progress.best->seconds_per_epoch : 0;
  switch (clock_.look(used, e.final_stage, means, an_epoch)) {
  case clock_order::none:
    break;
  case clock_order::end_search:
    head_.end_search("its share of the time is used");
    break;
  case clock_order::end_trainings:
    head_.end_search("the time is nearly used", /*trainings_too=*/true);
    break;
  case clock_order::stop:
    ending_ = out_of_time_ = true;
    head_.stop("wall time used", true);
  }
}

expected<run_progress> session::drive() {
  do {
    const auto now = clock::now();
    if (const auto slots = ordered_.take())
      worker_.change_slots(*slots);
    if (auto alive = worker_.keep_alive(now); !alive)
      return tl::unexpected(std::move(alive).error());
    if (const auto renewed = keys_.renew_if_due(); !renewed)
      log_.write(renewed.error().message);
    else if (*renewed)
      log_.write("the keys of this run were renewed");
    const auto progress = look(now);
    if (params_.hurried && params_.hurried()) {
      interrupted_ = true;
      worker_.end_now();
      return progress;
    }
    end_if_wanted(now, progress);
  } while (!head_.wait(interval));
  if (leaving_)
    worker_.await_end(); // While the head is there to let its nodes go.
  auto last = look(clock::now());
  if (last.failure)
    return tl::unexpected(*last.failure);
  return last;
}

/// Keys that other machines have a part of stay, so that their workers find the next head
/// of the run.
expected<key_renewal> have_keys(const session_params& params) {
  const auto folder = params.folder / "keys";
  key_renewal renewal(folder, params.authority.empty() ? folder : params.authority);
  if (!params.authority.empty())
    return make_run_keys(folder, params.authority).map([&] { return renewal; });
  if (!params.experiment.slots.listen.empty() && renewal.renew()
      && find_keys(folder / "head") && find_keys(folder / "worker"))
    return renewal;
  return make_run_keys(folder).map([&] { return renewal; });
}

/// If "any free port" is wanted, the one that the run had before is, as far as it is
/// free: its workers look there.
expected<endpoint> listening_at(const session_params& params) {
  const auto& listen = params.experiment.slots.listen;
  if (listen.empty())
    return endpoint{};
  auto wanted = parse_endpoint(listen);
  if (!wanted || wanted->port != 0)
    return wanted;
  const auto had = parse_endpoint(listening_address(params.folder));
  return had && had->host == wanted->host ? *had : *wanted;
}

/// Returns the address at which processes of this machine find a head that listens there.
endpoint from_here(endpoint listens) {
  if (listens.host == "0.0.0.0")
    listens.host = "127.0.0.1";
  return listens;
}

/// Why this cannot be done, or empty.
std::string why_not(const instruction& order, const search_space& space,
                    const problem& p) {
  if (order.kind == instruction_kind::slots) {
    const auto wanted = parse_slots(order.text);
    return wanted ? std::string() : wanted.error().message;
  }
  const auto fits = check(space.rules, *order.genome).and_then([&] {
    return decode(space, *order.genome, p);
  });
  return fits ? std::string() : "the genome does not fit: " + fits.error().message;
}

/// Tells how other machines join and watch, and leaves the address in the run's folder.
expected<void> announce(const session_params& params, const endpoint& at,
                        session_observer& observer) {
  if (params.publish)
    observer.publishes("tcp://" + to_text(*params.publish));
  if (params.experiment.slots.listen.empty())
    return {};
  const auto address = to_text(at);
  if (auto written = write_address(params.folder, address); !written)
    return written;
  observer.listens(address, params.folder / "keys" / "worker");
  return {};
}

process_params worker_process(const session_params& params, const endpoint& head,
                              std::uint64_t id) {
  const auto program = params.program.empty() ? own_program() : params.program;
  return {.command = {program.string(), "worker", "--connect", to_text(head), "--keys",
                      (params.folder / "keys" / "worker").string(), "--slots",
                      params.experiment.slots.local, "--local", "--id",
                      std::to_string(id), "--logs",
                      (params.folder / program_logs_name).string(), "--grace",
                      fmt::format("{}s", local_worker::finishing_time.count())},
          .environment = {},
          .log = params.folder / "worker.log"};
}

} // namespace

expected<session_result> run_session(const session_params& params,
                                     session_observer& observer, store file,
                                     run_state state) {
  const auto start = clock::now();
  const auto& e = params.experiment;
  auto slots = parse_slots(e.slots.local);
  if (!slots)
    return tl::unexpected(std::move(slots).error());
  const auto evaluated_before = state.evaluated;
  const auto seconds_before = state.training_seconds;
  const auto listens = listening_at(params);
  if (!listens)
    return tl::unexpected(listens.error());
  auto keys = have_keys(params);
  if (!keys)
    return tl::unexpected(std::move(keys).error());
  // Whoever had these from another head, on another machine, may still be at work on
  // them.
  const auto waits = !e.slots.listen.empty() && !state.open.empty()
                         ? nodes_return
                         : std::chrono::milliseconds(0);
  run_log log(params.folder / "head.log");
  ordered_slots ordered;
  const auto worker_id = drawn_worker();
  auto head = head::start(
      {.experiment = e,
       .problem = params.problem,
       .build = CLADE_VERSION,
       .keys = params.folder / "keys" / "head",
       .folder = params.folder,
       .publish = params.publish,
       .authority = params.authority,
       .listen = *listens,
       .lease = params.lease,
       .wait_for_nodes = waits,
       .local_worker = worker_id,
       .say = [&log](const std::string& line) { log.write(line); },
       .generators = std::max<std::size_t>(2, slots->size() / 8),
       .refuses = [&e, &p = params.problem](
                      const instruction& order) { return why_not(order, e.space, p); },
       .change_slots = [&ordered](const std::string& s) { ordered.put(s); },
       .time_left =
           [start, wall_time = e.limits.wall_time] {
             return wall_time.count() == 0
                        ? wall_time
                        : std::max(
                            1ms,
                            wall_time
                                - std::chrono::duration_cast<std::chrono::milliseconds>(
                                    clock::now() - start));
           }},
      std::move(file), std::move(state));
  if (!head)
    return tl::unexpected(std::move(head).error());
  const endpoint at{.host = listens->host, .port = (*head)->port()};
  if (auto told = announce(params, at, observer); !told)
    return tl::unexpected(std::move(told).error());
  session_result result{.slots = slots->size()};
  {
    local_worker worker(worker_process(params, from_here(at), worker_id));
    session s(params, observer, **head, worker, ordered, *keys, log);
    const auto last = s.drive();
    (*head)->close();
    if (!last)
      return tl::unexpected(last.error());
    result.interrupted = s.interrupted() && !last->finished;
    result.too_short = s.out_of_time() && !last->best;
    result.evaluated = last->evaluated - evaluated_before;
    result.training_seconds = last->training_seconds - seconds_before;
  }
  result.seconds = std::chrono::duration<double>(clock::now() - start).count();
  return result;
}

} // namespace clade
