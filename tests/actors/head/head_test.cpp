// A head with the network of this process; simulated nodes of a thread join it over TLS.

#include "actors/head/head.hpp"
#include "actors/node/fleet.hpp"
#include "actors/transport/tls/keys.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace clade;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t population = 6, generations = 3;

constexpr const char* toy = R"([experiment]
name = "toy"
seed = 7
fitness = "synthetic"
[data]
shape = [8]
classes = 3
[search_space]
file = "mlp"
[evolution]
strategy = "generational"
population = 6
generations = 3
)";

/// A run that nobody has begun, in a folder of its own.
class small_run {
public:
  small_run() {
    REQUIRE(make_run_keys(keys()));
    write_text(folder_.path() / "toy.toml", toy);
    experiment_ = load_experiment(folder_.path() / "toy.toml").value();
    auto state = make_run_state(rules_of(experiment_)).value();
    const entry first{run_started{.version = "test",
                                  .experiment = to_toml(experiment_),
                                  .seed = experiment_.seed,
                                  .search = search_hash(experiment_, {})},
                      {}};
    auto file = store::create(store_file(), experiment_.objective).value();
    REQUIRE(file.append({&first, 1}));
  }

  [[nodiscard]] expected<std::unique_ptr<head>> start(std::uint16_t port = 0) const {
    return head::start({.experiment = experiment_,
                        .problem = problem_of(experiment_, nullptr).value(),
                        .build = "test",
                        .keys = keys() / "head",
                        .listen = {.host = "127.0.0.1", .port = port},
                        .say = [](const std::string&) {}},
                       store::open(store_file()).value(), fold());
  }

  /// Lets so many nodes join the head until they are dismissed.
  [[nodiscard]] std::jthread join(const head& h, std::size_t nodes) const {
    return std::jthread([port = h.port(), nodes, keys = keys() / "worker"] {
      const auto done = run_fleet({.head = {.host = "127.0.0.1", .port = port},
                                   .keys = find_keys(keys).value(),
                                   .build = "test",
                                   .name = "fleet",
                                   .nodes = nodes});
      if (!done)
        throw std::runtime_error(done.error().message);
    });
  }

  [[nodiscard]] run_state fold() const {
    auto state = make_run_state(rules_of(experiment_)).value();
    const auto read = store::open_to_read(store_file())
                          .value()
                          .for_each([&](std::uint64_t, std::int64_t, const record& r) {
                            return apply(state, r);
                          });
    REQUIRE(read);
    return state;
  }

private:
  [[nodiscard]] std::filesystem::path keys() const { return folder_.path() / "keys"; }
  [[nodiscard]] std::filesystem::path store_file() const {
    return folder_.path() / "run.db";
  }

  scratch_folder folder_;
  experiment experiment_;
};

/// Blocks until the run is over; nobody else ends the head.
void finish(head& h) {
  while (!h.wait(1s)) {
  }
}

digest searched_by(std::size_t nodes) {
  const small_run run;
  auto h = run.start().value();
  const auto fleet = run.join(*h, nodes);
  finish(*h);
  const auto progress = h->progress(0);
  CHECK(progress.evaluated == population * generations);
  CHECK(progress.generations.size() == generations);
  CHECK(progress.finished);
  h->close();
  CHECK(run.fold().finished);
  return run.fold().digest;
}

} // namespace

TEST_CASE("head: a search goes to its end, and is the same with any number of nodes") {
  CHECK(searched_by(1) == searched_by(3));
}

TEST_CASE("head: a run that is stopped before anybody joins goes on with the next head") {
  const small_run run;
  {
    auto h = run.start().value();
    CHECK(h->port() != 0);
    CHECK(h->slots().slots.empty());
    h->stop("enough");
    finish(*h);
    CHECK_FALSE(h->progress(0).finished);
    CHECK(h->progress(0).evaluated == 0);
    h->close();
    h->close();
  }
  CHECK_FALSE(run.fold().finished);
  auto next = run.start().value();
  const auto fleet = run.join(*next, 2);
  finish(*next);
  next->close();
  CHECK(run.fold().finished);
}

TEST_CASE("head: a port that is in use is told") {
  const small_run one, other;
  const auto first = one.start().value();
  const auto second = other.start(first->port());
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == error_kind::conflict);
  CHECK_THAT(second.error().message, Catch::StartsWith("cannot listen on 127.0.0.1:"));
}
