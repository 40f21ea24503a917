#include "actors/head/head.hpp"

#include "actors/head/archive.hpp"
#include "actors/head/data_source.hpp"
#include "actors/head/dispatcher.hpp"
#include "actors/head/generator.hpp"
#include "actors/head/selector.hpp"
#include "actors/node/node_work.hpp"
#include "actors/transport/link/door.hpp"
#include "actors/transport/link/network_config.hpp"
#include "actors/transport/tls/stranger_guard.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/store/sqlite/blob_folder.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/socket/publisher.hpp"
#include "engine/training/asked/fitting.hpp"
#include "genome/base/wakeable_queue.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;

// How long peers have to close their side at the end of a run.
constexpr std::chrono::milliseconds farewell = 1000ms;
// How long a stranger may take for a TLS handshake.
constexpr auto handshake_time = 10s;
// How often viewers are shown what slots do.
constexpr auto slots_interval = 250ms;
// How long a person who tells the run something waits at most.
constexpr auto obeys_within = 3s;

/// Returns the needs of a candidate's training; its memory comes from the table of
/// operators.
std::function<task_needs(const candidate&)> needs_of_trainings(const experiment& e,
                                                               const problem& p) {
  return [space = e.space, training = e.training, p](const candidate& c) {
    const auto fitted = decode(space, *c.genome, p).and_then([&](const network& n) {
      return fit_training(training, n, c.genome->hyperparameters);
    });
    if (!fitted)
      return task_needs{}; // Its trainer will say what is wrong with it.
    const auto& how = fitted->distribution;
    return task_needs{
        .memory_bytes = fitted->bytes, .slots = how.devices, .team = how.by_team()};
  };
}

/// Empties the folder in which weights that nodes send are gathered: what an earlier head
/// left there is of no use.
std::filesystem::path incoming_folder(const std::filesystem::path& of_run) {
  if (of_run.empty())
    return {};
  auto folder = of_run / "incoming";
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return folder;
}

caf::behavior tell_end(caf::event_based_actor*,
                       const std::shared_ptr<wakeable_queue<run_over>>& ends) {
  return {[ends](run_over end) { ends->put(end); }};
}

/// While it lives, CAF's system may end in peace: it waits until every peer has closed
/// its side, which a stopped process, or a stranger who connected and says nothing, never
/// does. After a while this cuts them off.
class patience {
public:
  explicit patience(std::uint16_t port)
      : thread_([this, port] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, farewell, [this] { return over_; }))
            shut_connections(port);
        }) {}

  ~patience() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_; // The last: it uses the others.
};

class actor_head : public head {
public:
  actor_head(const head_params& params, const key_files& keys)
      : say_(params.say),
        config_(keys, params.generators + 1),
        system_(std::make_unique<caf::actor_system>(config_)),
        watcher_(std::make_unique<caf::scoped_actor>(*system_)) {}

  ~actor_head() override { close(); }

  expected<void> begin(const head_params& params, store file, run_state run) {
    const auto& e = params.experiment;
    const bool trains = e.traits().trains;
    const bool goes_on = e.evaluator->gives_checkpoints();
    // Nodes of this machine have them; only others are told, which costs a reading.
    auto sent = trains && !e.slots.listen.empty() ? data_to_send(e.data) : sent_data();
    auto identity = file.identity();
    if (!sent || !identity)
      return tl::unexpected(sent ? identity.error() : sent.error());
    report_refusals(params.say);
    if (auto published = publish(params, file); !published)
      return published;
    auto files = sent->files;
    source_ = system_->spawn<caf::detached>(data_source_behavior, std::move(*sent));
    archive_ = system_->spawn<caf::detached>(
        archive_behavior, std::make_shared<store>(std::move(file)),
        params.folder.empty() ? params.folder : params.folder / checkpoints_folder_name);
    {
      std::lock_guard lock(told_mutex_);
      keeps_ = archive_.address();
    }
    dispatcher_ = system_->spawn(
        dispatcher_behavior,
        dispatcher_params{
            .schedule = {.lease = params.lease},
            .run = *identity,
            .experiment = to_toml(e),
            .files = std::move(files),
            .source = source_,
            .incoming = incoming_folder(params.folder),
            .wait_for_nodes = params.wait_for_nodes,
            .local_worker = params.local_worker,
            .tasks = {.needs_of =
                          trains ? needs_of_trainings(e, params.problem) : nullptr,
                      .alone = e.traits().alone},
            .archive = goes_on ? archive_ : archive_actor{},
            .by_team = trains && e.training.distribution.by_team(),
            .servers = e.training.distribution.servers,
            .slots_with_servers = e.training.distribution.devices,
            .waits_for_all = e.training.distribution.waits_for_all(),
            .gradients_taken = e.training.distribution.gradients_taken(),
            .portable = trains && e.training.arithmetic == arithmetic::portable,
            .keep_checkpoints = goes_on && starts_from_others(e.evolution),
            .say = params.say,
            .show = shows_epochs()});
    door_ = system_->spawn(door_behavior, dispatcher_, params.build);
    auto bound = caf::openssl::publish(door_, params.listen.port,
                                       params.listen.host.c_str(), true);
    if (!bound)
      return fail(bound.error() == caf::sec::cannot_open_port ? error_kind::conflict
                                                              : error_kind::io,
                  fmt::format("cannot listen on {}: is the port in use, and the address "
                              "one of this machine's?",
                              to_text(params.listen)));
    port_ = *bound;
    if (e.slots.listen.empty())
      admit_own_user_only(port_);
    std::shared_ptr<zero_cost_scorer> scorer;
    if (e.evolution.zero_cost) {
      auto loaded = load_zero_cost_scorer(training_module(), training_setup_of(e, "cpu"));
      if (!loaded)
        return tl::unexpected(std::move(loaded).error());
      scorer = std::move(*loaded);
    }
    auto setup = std::make_shared<const generator_setup>(
        generator_setup{.space = e.space,
                        .problem = params.problem,
                        .mutation = e.evolution.mutation,
                        .seed = e.seed,
                        .scorer = std::move(scorer)});
    for (std::size_t i = 0; i < params.generators; ++i)
      generators_.push_back(system_->spawn(generator_behavior, setup));
    selector_ = system_->spawn(
        selector_behavior,
        selector_params{.archive = archive_,
                        .dispatcher = dispatcher_,
                        .generators = generators_,
                        .run = std::make_shared<run_state>(std::move(run)),
                        .watcher = system_->spawn(tell_end, ends_),
                        .refuses = params.refuses,
                        .change_slots = params.change_slots,
                        .time_left = params.time_left,
                        .epochs = full_epochs(e),
                        .devices = slots_of_training(e),
                        .with_trees = params.problem.input.layout() == layout::vector,
                        .show = shows_records()});
    std::lock_guard lock(told_mutex_);
    told_ = selector_.address();
    return {};
  }

  std::uint16_t port() const override { return port_; }

  bool wait(std::chrono::milliseconds most) override {
    end_slow_handshakes(handshake_time);
    over_ = over_ || ends_->pop(most).has_value();
    return over_;
  }

  run_progress progress(std::size_t from_generation) override {
    run_progress answer;
    (*watcher_)
        ->request(selector_, caf::infinite, progress_query{from_generation})
        .receive([&](run_progress& p) { answer = std::move(p); },
                 [&](caf::error& e) { answer.failure = broken(e); });
    return answer;
  }

  slots_view slots() override {
    slots_view answer;
    (*watcher_)
        ->request(dispatcher_, caf::infinite, slots_query{})
        .receive([&](slots_view& s) { answer = std::move(s); }, [](caf::error&) {});
    const auto now = std::chrono::steady_clock::now();
    if (publisher_ && publisher_->watched() && now - slots_shown_ >= slots_interval) {
      publisher_->publish(answer);
      slots_shown_ = now;
    }
    return answer;
  }

  void end_search(const std::string& reason, bool trainings_too) override {
    (*watcher_)->send(selector_, clade::end_search{reason, trainings_too});
  }

  void stop(const std::string& reason, bool may_end) override {
    (*watcher_)->send(selector_, stop_run{.reason = reason, .may_end = may_end});
  }

  void leave(const std::string& reason) override {
    (*watcher_)->send(selector_, stop_run{.reason = reason, .hands_back = true});
  }

  void close() override {
    if (!system_)
      return;
    if (dispatcher_ && selector_ && progress(0).finished)
      (*watcher_)->send(dispatcher_, clade::leave{"the run is over"});
    // In an order in which each ends before what it uses; a message to an actor that
    // ended is answered by an error, never lost in silence.
    end(selector_);
    for (auto& g : generators_)
      end(g);
    generators_.clear();
    end(dispatcher_);
    end(source_);
    end(door_);
    // Before the store is closed, and with that the next head may come.
    publisher_.reset();
    settle_archive();
    end(archive_);
    watcher_.reset();
    report_refusals({});
    const patience until_peers_closed(port_);
    system_.reset();
  }

private:
  /// That nobody can watch it is no reason not to search, unless others were to.
  expected<void> publish(const head_params& params, const store& file) {
    if (params.folder.empty())
      return {};
    publisher_params to{.name = params.experiment.name,
                        .store_file = params.folder / store_file_name,
                        .folder = params.folder / live_folder_name,
                        .obey = [this](const auto& t) { return obey(t); },
                        .keep = [this](kept_picture p) { keep(std::move(p)); },
                        .say = params.say};
    if (params.publish)
      to.remote = {.host = params.publish->host,
                   .port = params.publish->port,
                   .authority = params.authority};
    auto started = publisher::start(to, file);
    if (started)
      publisher_ = std::move(*started);
    else if (params.publish)
      return tl::unexpected(started.error());
    else if (params.say)
      params.say(started.error().message);
    return {};
  }

  /// Called by the publisher's thread.
  std::string obey(const operator_command& order) {
    caf::actor_addr to;
    {
      std::lock_guard lock(told_mutex_);
      to = told_;
    }
    const auto selector = caf::actor_cast<selector_actor>(to);
    if (!selector)
      return "the run is starting, or at its end";
    caf::scoped_actor asks(*system_);
    std::string answer;
    asks->request(selector, obeys_within, told{order.order, order.who})
        .receive([&](std::string& refusal) { answer = std::move(refusal); },
                 [&](const caf::error& e) {
                   answer = "the run did not answer: " + system_->render(e);
                 });
    return answer;
  }

  /// Called by the publisher's thread.
  void keep(kept_picture p) {
    caf::actor_addr to;
    {
      std::lock_guard lock(told_mutex_);
      to = keeps_;
    }
    if (const auto archive = caf::actor_cast<archive_actor>(to))
      caf::anon_send(archive,
                     keep_picture{std::make_shared<const kept_picture>(std::move(p))});
  }

  /// Puts the state that the publisher kept last on the disk. Without it views take
  /// longer to begin.
  void settle_archive() {
    if (!archive_)
      return;
    std::string failure;
    (*watcher_)
        ->request(archive_, caf::infinite, write_kept{})
        .receive([&](kept_written& s) { failure = s.done ? "" : s.done.error().message; },
                 [&](const caf::error& e) { failure = system_->render(e); });
    if (!failure.empty() && say_)
      say_("the picture of the run is not kept: " + failure);
  }

  /// Epochs are many, and of no use where nobody watches.
  std::function<void(epoch_event)> shows_epochs() {
    if (!publisher_)
      return nullptr;
    return [to = publisher_.get()](epoch_event e) {
      if (to->watched())
        to->publish(std::move(e));
    };
  }

  /// None where nobody can watch. The publisher outlives the actors that call it.
  std::function<void(recorded)> shows_records() {
    if (!publisher_)
      return nullptr;
    return [to = publisher_.get()](recorded r) { to->publish(std::move(r)); };
  }

  error broken(const caf::error& e) {
    return {error_kind::internal, "the selector ended: " + system_->render(e)};
  }

  template<class Handle>
  void end(Handle& handle) {
    if (!handle)
      return;
    (*watcher_)->send_exit(handle, caf::exit_reason::user_shutdown);
    (*watcher_)->wait_for(handle);
    handle = nullptr;
  }

  std::function<void(const std::string&)> say_;
  std::unique_ptr<publisher> publisher_;
  network_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<caf::scoped_actor> watcher_;
  std::shared_ptr<wakeable_queue<run_over>> ends_ =
      std::make_shared<wakeable_queue<run_over>>();
  dispatcher_actor dispatcher_;
  data_source_actor source_;
  caf::actor door_;
  archive_actor archive_;
  std::vector<generator_actor> generators_;
  selector_actor selector_;
  std::mutex told_mutex_;
  // The selector and the archive, for the publisher's thread.
  caf::actor_addr told_, keeps_;
  std::uint16_t port_ = 0;
  std::chrono::steady_clock::time_point slots_shown_{};
  bool over_ = false;
};

} // namespace

expected<std::unique_ptr<head>> head::start(const head_params& params, store file,
                                            run_state run) {
  auto keys = find_keys(params.keys);
  if (!keys)
    return tl::unexpected(keys.error());
  auto made = std::make_unique<actor_head>(params, *keys);
  return made->begin(params, std::move(file), std::move(run))
      .map([&]() -> std::unique_ptr<head> { return std::move(made); });
}

} // namespace clade
