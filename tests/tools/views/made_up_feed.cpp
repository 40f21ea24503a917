#include "tests/tools/views/made_up_feed.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/genomes.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace clade::test {

namespace {

constexpr std::int64_t start_ms = 1'790'000'000'000;

std::string experiment_text(std::size_t population) {
  const auto e =
      load_experiment(CLADE_SOURCE "/experiments/synthetic.toml",
                      std::vector{"evolution.population=" + std::to_string(population)});
  if (!e)
    throw std::runtime_error(e.error().message);
  return to_toml(*e);
}

clade::candidate a_candidate(candidate_id id, std::uint64_t generation,
                             std::uint64_t index, std::size_t population) {
  clade::candidate c;
  c.id = id;
  c.generation = generation;
  c.index = index;
  auto g = a_genome();
  const auto n = static_cast<double>(id);
  assign(g.hyperparameters, "learning_rate",
         std::pow(10, -4 + 3 * std::fmod(n * 0.618, 1)));
  assign(g.hyperparameters, "batch", static_cast<std::int64_t>(16) << (id % 4));
  assign(g.hyperparameters, "optimiser", std::string(id % 3 == 0 ? "sgd" : "adam"));
  c.network = canonical_hash(g);
  c.genome = std::make_shared<const genome>(std::move(g));
  c.changes = {{.kind = change_kind::sampled}};
  if (generation > 0) {
    c.parents = {id - population, id - population + 1};
    c.changes = {
        {.kind = change_kind::widen, .gene = "n3f2a1", .before = "16", .after = "32"}};
  }
  c.work = 1000;
  return c;
}

evaluation an_evaluation(candidate_id id, double accuracy) {
  evaluation e;
  e.id = id;
  e.slot = "here/cpu:" + std::to_string(id % 4);
  e.seconds = 0.5;
  if (accuracy < 0) {
    e.outcome = outcome::crashed;
    e.reason = "two node processes ended <b>while</b> they trained it";
    return e;
  }
  e.metrics = {{"validation.accuracy", accuracy}, {"validation.loss", 1 - accuracy}};
  e.parameters = 1000 + id * 7919 % 100'000;
  e.curve = {{1, {{"validation.accuracy", accuracy / 2}}, 0.25}, {2, e.metrics, 0.25}};
  return e;
}

} // namespace

made_up_feed::made_up_feed(std::size_t population)
    : population_(population),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  happen(
      run_started{.version = "1", .experiment = experiment_text(population), .seed = 1});
}

made_up_feed::~made_up_feed() {
  ::close(event_);
}

void made_up_feed::announce(news n) {
  {
    const std::lock_guard lock(mutex_);
    coming_.push_back(std::move(n));
  }
  const std::uint64_t one = 1;
  if (::write(event_, &one, sizeof one) != sizeof one)
    throw std::runtime_error("an eventfd is full");
}

void made_up_feed::happen(record r) {
  ++sequence_;
  announce(record_event{.sequence = sequence_,
                        .unix_ms = start_ms + static_cast<std::int64_t>(sequence_) * 1000,
                        .record = std::move(r)});
}

void made_up_feed::evaluate(double accuracy) {
  ++last_;
  happen(candidate_born{a_candidate(last_, generation_, members_++, population_)});
  happen(candidate_evaluated{an_evaluation(last_, accuracy)});
}

void made_up_feed::evolve(std::size_t generations) {
  for (std::size_t g = 0; g < generations; ++g) {
    while (members_ < population_) {
      const auto wave = std::sin(static_cast<double>(last_) * 12.9898) * 0.5 + 0.5;
      const auto rise = 1 - std::exp(-static_cast<double>(generation_) / 20);
      evaluate(last_ % 29 == 7 ? -1 : 0.3 + 0.4 * rise + 0.25 * wave);
    }
    happen(generation_closed{.generation = generation_, .survivors = {last_}});
    ++generation_;
    members_ = 0;
  }
}

void made_up_feed::show(feed_state what) {
  {
    const std::lock_guard lock(mutex_);
    showing_ = what;
  }
  announce(slots_view{});
}

feed_state made_up_feed::showing() const {
  const std::lock_guard lock(mutex_);
  return showing_;
}

void made_up_feed::fold(const record_event& h) {
  if (const auto done = apply(picture_, h.unix_ms, h.record); !done)
    throw std::runtime_error(done.error().message);
  if (const auto* b = std::get_if<candidate_born>(&h.record)) {
    auto& k = known_[b->born.id];
    k.born = b->born;
    k.row.line = picture_.open.at(b->born.id);
    k.row.index = b->born.index;
    k.row.parents = b->born.parents;
    k.row.nodes = b->born.genome->nodes.size();
    k.row.operators = count_operators(*b->born.genome);
    k.row.hyperparameters = b->born.genome->hyperparameters;
    k.row.born_sequence = h.sequence;
  } else if (const auto* e = std::get_if<candidate_evaluated>(&h.record)) {
    auto& k = known_.at(e->evaluated.id);
    k.evaluated = e->evaluated;
    k.row.line = picture_.latest.back();
    k.row.metrics = e->evaluated.metrics;
    k.row.evaluated_sequence = h.sequence;
  }
}

expected<void> made_up_feed::tell(const operator_command& order) {
  if (order.order.kind == instruction_kind::extend)
    return fail(error_kind::invalid_input, "it is long enough");
  told_.push_back(order);
  return {};
}

expected<std::vector<news>> made_up_feed::wait(std::chrono::milliseconds most) {
  pollfd wakes{.fd = event_, .events = POLLIN, .revents = 0};
  ::poll(&wakes, 1, static_cast<int>(most.count()));
  std::deque<news> came;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
    came = std::exchange(coming_, {});
  }
  for (const auto& n : came) {
    if (const auto* h = std::get_if<record_event>(&n))
      fold(*h);
    else if (const auto* s = std::get_if<slots_view>(&n))
      slots_ = *s;
  }
  return std::vector<news>(came.begin(), came.end());
}

expected<genome_view> made_up_feed::candidate(candidate_id id) {
  const auto found = known_.find(id);
  if (found == known_.end())
    return fail(error_kind::not_found, "there is no #" + std::to_string(id));
  genome_view view;
  view.born = found->second.born;
  view.evaluated = found->second.evaluated;
  view.goal = picture_.rules.objective;
  return view;
}

expected<std::vector<candidate_row>> made_up_feed::candidates(candidate_id after,
                                                              std::size_t count) {
  std::vector<candidate_row> rows;
  for (auto k = known_.upper_bound(after); k != known_.end() && rows.size() < count; ++k)
    rows.push_back(k->second.row);
  return rows;
}

} // namespace clade::test
