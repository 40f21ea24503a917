// A head and a node, each a process of its own, joined over TLS: large made-up weights
// come from the node, lie in the run's folder, and go back to the node for a test. The
// trainer and the selector are stand-ins; all between them is what a run has. Neither
// process may take more memory than it must. If CLADE_LARGE_WEIGHTS_MIB says how large
// the weights are, the figures are printed.
#include "actors/head/archive.hpp"
#include "actors/head/data_source.hpp"
#include "actors/head/dispatcher.hpp"
#include "actors/node/process_status.hpp"
#include "actors/transport/link/door.hpp"
#include "actors/transport/link/link.hpp"
#include "actors/transport/link/network_config.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "genome/genes/genome.hpp"
#include "tests/actors/stub_node.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

using namespace clade;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t mib = 1 << 20;
// Longer than anything takes, so that a node that died is noticed.
constexpr auto longest = 120s;
// The memory that both processes take without any weights.
constexpr std::uint64_t allowance = 150 * mib;

std::uint64_t weights_bytes() {
  const char* chosen = std::getenv("CLADE_LARGE_WEIGHTS_MIB");
  return (chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 600) * mib;
}

bytes made_up_weights() {
  bytes b(weights_bytes(), 'w');
  for (std::size_t i = 0; i < b.size(); i += 4096)
    b[i] = static_cast<char>(i >> 12);
  return b;
}

/// The report that the node gives the test through a pipe when it ends.
struct node_report {
  bool same = false; ///< The weights that came back are those that went.
  std::uint64_t peak_bytes = 0;
};

/// Trains by making weights up, tests by comparing them; says in the end what it found.
class large_node final : public test::stub_node_events {
public:
  explicit large_node(int report_to) : report_to_(report_to) {}

  void welcomed(const node_welcome& welcome, const link_actor& link) override {
    link_ = link;
    id_ = welcome.node;
    caf::anon_send(link_, node_ready{.node = id_});
  }

  void assigned(const assignments& work) override {
    for (const auto& a : work.batch) {
      results r{.node = id_, .batch = {}};
      r.batch.push_back(done(a));
      caf::anon_send(link_, std::move(r));
    }
  }

  void dismissed(const leave&) override {
    report_.peak_bytes = status_bytes("VmHWM");
    ::_exit(::write(report_to_, &report_, sizeof report_) == sizeof report_ ? 0 : 1);
  }

private:
  result done(const assignment& a) {
    if (const auto* test = std::get_if<test_task>(&a.what)) {
      report_.same = test->weights.in_memory() && test->weights.checksum() == checksum_;
      encoder out;
      encode(out, examination{.id = a.id.candidate});
      return {.id = a.id, .lease = a.lease, .what = test_result{out.take()}};
    }
    training_result trained{.evaluated = encode(record{
                                candidate_evaluated{evaluation{.id = a.id.candidate}}}),
                            .weights = made_up_weights()};
    checksum_ = trained.weights.checksum();
    return {.id = a.id, .lease = a.lease, .what = std::move(trained)};
  }

  int report_to_;
  link_actor link_;
  std::uint64_t id_ = 0, checksum_ = 0;
  node_report report_;
};

/// The life of the node's process; it learns the head's port through a pipe.
[[noreturn]] void be_node(const key_files& keys, int ports, int report) {
  std::uint16_t port = 0;
  if (::read(ports, &port, sizeof port) != sizeof port)
    ::_exit(2);
  network_config config(keys, 2);
  caf::actor_system system(config);
  auto door = caf::openssl::remote_actor<caf::actor>(system, "127.0.0.1", port);
  caf::scoped_actor self(system);
  auto dispatcher = door ? open_door(self, *door, "test", 10s)
                         : expected<dispatcher_actor>(fail(error_kind::refused, ""));
  if (!dispatcher) {
    std::fprintf(stderr, "%s\n", dispatcher.error().message.c_str());
    ::_exit(3);
  }
  const auto node = std::make_shared<large_node>(report);
  system.spawn(link_behavior, link_params{.dispatcher = *dispatcher,
                                          .node = system.spawn(test::stub_node, node),
                                          .watcher = caf::actor_cast<caf::actor>(self)});
  self->receive([](const std::string& why_the_link_ended) {
    std::fprintf(stderr, "%s\n", why_the_link_ended.c_str());
  });
  ::_exit(4);
}

selector_actor::behavior_type stub_selector(selector_actor::pointer, caf::actor to) {
  return {
      [to](const evaluations& e) { caf::anon_send(to, e); },
      [](const observation&) {},
      [to](const run_failure& f) { caf::anon_send(to, f); },
      [](const withdrawn&) {},
      [](const stop_run&) {},
      [](const end_search&) {},
      [](const clade::told&) { return std::string(); },
      [](const progress_query&) { return run_progress{}; },
  };
}

/// The actors of a head, without those that breed.
struct head_side {
  scratch_folder& folder;
  network_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  data_source_actor source =
      system.spawn<caf::detached>(data_source_behavior, sent_data());
  archive_actor archive;
  dispatcher_actor dispatcher;
  selector_actor selector =
      system.spawn(stub_selector, caf::actor_cast<caf::actor>(self));
  caf::actor door;
  std::uint16_t port = 0;

  head_side(scratch_folder& in, const key_files& keys) : folder(in), config(keys, 2) {
    archive = system.spawn<caf::detached>(
        archive_behavior,
        std::make_shared<store>(store::create(folder.path() / "run.db").value()),
        folder.path() / checkpoints_folder_name);
    dispatcher = system.spawn(dispatcher_behavior,
                              dispatcher_params{.run = 1,
                                                .experiment = "e",
                                                .source = source,
                                                .incoming = folder.path() / "incoming"});
    self->send(dispatcher, selector);
    door = system.spawn(door_behavior, dispatcher, std::string("test"));
    port = caf::openssl::publish(door, 0, "127.0.0.1").value();
  }

  ~head_side() {
    for (const auto& one :
         {door, caf::actor_cast<caf::actor>(source), caf::actor_cast<caf::actor>(archive),
          caf::actor_cast<caf::actor>(selector),
          caf::actor_cast<caf::actor>(dispatcher)}) {
      self->send_exit(one, caf::exit_reason::user_shutdown);
      self->wait_for(one);
    }
    shut_connections(port);
  }

  evaluated_job train(candidate_id id) {
    random_stream random({.seed = id});
    candidate c{.id = id};
    c.genome =
        std::make_shared<const genome>(sample_genome(test::small_grammar(), random));
    submission wanted;
    wanted.candidates.push_back(c);
    self->send(dispatcher, wanted);
    evaluated_job trained;
    self->receive([&](const evaluations& e) { trained = e.batch.at(0); },
                  [](const run_failure& f) { FAIL(f.why.message); },
                  caf::after(longest) >> [] { FAIL("no evaluation came"); });
    return trained;
  }

  void record(const evaluated_job& trained) {
    append message{.entries =
                       std::make_shared<const std::vector<entry>>(std::vector<entry>{
                           {candidate_evaluated{trained.evaluation}, trained.weights}}),
                   .keep = {trained.evaluation.id}};
    self->request(archive, longest, message)
        .receive([](const appended& a) { REQUIRE(a.at); },
                 [](caf::error&) { FAIL("the archive ended"); });
  }

  blob weights_of(candidate_id id) {
    blob found;
    self->request(archive, longest, fetch_weights{id})
        .receive([&](const fetched_weights& w) { found = w.found.value(); },
                 [](caf::error&) { FAIL("the archive ended"); });
    return found;
  }

  void test(candidate_id id, const blob& weights) {
    self->request(dispatcher, longest,
                  test_request{{.id = {id, task_type::test},
                                .what = test_task{.weights = weights}}})
        .receive([](const test_answer& a) { REQUIRE(a.measured); },
                 [](caf::error&) { FAIL("the dispatcher ended"); });
  }
};

} // namespace

TEST_CASE("large weights: they go to the head and back to a node in bounded memory") {
  scratch_folder folder;
  REQUIRE(make_run_keys(folder.path() / "keys"));
  int ports[2], report[2];
  REQUIRE(::pipe(ports) == 0);
  REQUIRE(::pipe(report) == 0);
  const auto node = ::fork();
  if (node == 0)
    be_node(find_keys(folder.path() / "keys" / "worker").value(), ports[0], report[1]);
  head_side head(folder, find_keys(folder.path() / "keys" / "head").value());
  REQUIRE(::write(ports[1], &head.port, sizeof head.port) == sizeof head.port);

  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
        .count();
  };
  const auto trained = head.train(1);
  const auto came = seconds();
  REQUIRE(trained.weights.size() == weights_bytes());
  head.record(trained);
  const auto recorded = seconds();
  CHECK(std::filesystem::exists(folder.path() / "weights" / "1"));
  const auto weights = head.weights_of(1);
  CHECK(weights == trained.weights);
  const auto found = seconds();
  head.test(1, weights);
  const auto tested = seconds();

  head.self->send(head.dispatcher, leave{"the run is over"});
  node_report was;
  REQUIRE(::read(report[0], &was, sizeof was) == sizeof was);
  int status = 0;
  REQUIRE(::waitpid(node, &status, 0) == node);
  CHECK(was.same);
  const auto heads_peak = status_bytes("VmHWM");
  if (std::getenv("CLADE_LARGE_WEIGHTS_MIB") != nullptr)
    WARN(weights_bytes() / mib << " MiB of weights came in " << came
                               << " s, were recorded in " << recorded - came
                               << " s, found in " << found - recorded
                               << " s and tested in " << tested - found
                               << " s; the head's peak is " << heads_peak / mib
                               << " MiB, the node's " << was.peak_bytes / mib << " MiB");
  CHECK(heads_peak < allowance);
  CHECK(was.peak_bytes < weights_bytes() + allowance);
}
