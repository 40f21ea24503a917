// The score is the mean of four terms in [0, 1], each of which small changes of a genome
// move a little, so that there is a slope to climb:
//
//   depth            1 / (1 + ((n - n*) / 3)^2), n the live nodes, n* hidden, from 3 to 8
//   operators        mean over live nodes of how well that operator is liked, hidden
//   settings         mean over live nodes' settings of how near they are to a hidden
//                    value
//   hyperparameters  mean over hyperparameters, likewise
//
// How near a number is: a triangular wave over its binary logarithm with a period of 8
// octaves, whose crest is hidden; so there is a slope in whatever range a search space
// gives. A word is liked as an operator is. All that is hidden is drawn by (seed, name).
// The arithmetic is exact on every machine (no logarithm or root of a library), its sums
// are taken in sorted order, and the score is rounded to 2^-20, for equal networks to
// score alike wherever they are evaluated.
#include "engine/evaluation/synthetic/synthetic.hpp"

#include "engine/evaluation/costs.hpp"
#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace clade {

namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

// The kinds of values that are drawn from purpose::synthetic, as the key's generation.
constexpr std::uint64_t fates = 0, hidden = 1, weights_of = 2;

double liking(std::uint64_t seed, const std::string& name) {
  return derive(seed, purpose::synthetic, hidden, hash64(name)).uniform();
}

/// log2, but a straight line between powers of two.
double octaves(double v) {
  constexpr double nothing = -20;
  int exponent = 0;
  const auto mantissa = std::frexp(std::abs(v), &exponent);
  return std::max(nothing, v == 0 ? nothing : exponent + 2 * mantissa - 1);
}

double nearness(std::uint64_t seed, const std::string& owner, const setting& s) {
  const auto name = fmt::format("{}.{}", owner, s.name);
  if (const auto* word = std::get_if<std::string>(&s.value))
    return liking(seed, fmt::format("{}={}", name, *word));
  const auto* whole = std::get_if<std::int64_t>(&s.value);
  const auto v =
      whole != nullptr ? static_cast<double>(*whole) : std::get<double>(s.value);
  const auto periods = octaves(v) / 8 - liking(seed, name);
  return std::abs(1 - 2 * (periods - std::floor(periods)));
}

double mean(std::vector<double> terms) {
  if (terms.empty())
    return 0;
  std::sort(terms.begin(), terms.end());
  double sum = 0;
  for (const auto t : terms)
    sum += t;
  return sum / static_cast<double>(terms.size());
}

double judge(const genome& g, std::uint64_t seed) {
  std::vector<double> operators, settings, hyperparameters;
  for (const auto id : topological_order(g)) {
    if (id == input_innovation || id == output_innovation)
      continue;
    const auto& node = *find_node(g, id);
    operators.push_back(liking(seed, node.op));
    for (const auto& s : node.settings)
      settings.push_back(nearness(seed, node.op, s));
  }
  for (const auto& s : g.hyperparameters)
    hyperparameters.push_back(nearness(seed, "", s));
  const auto best_depth =
      3 + derive(seed, purpose::synthetic, hidden, hash64("depth")).below(6);
  const auto off =
      (static_cast<double>(operators.size()) - static_cast<double>(best_depth)) / 3;
  const auto score = mean({1 / (1 + off * off), mean(std::move(operators)),
                           mean(std::move(settings)), mean(std::move(hyperparameters))});
  constexpr double grain = 1 << 20;
  return std::floor(score * grain + 0.5) / grain;
}

enum class fate { well, diverges, crashes, hangs, hogs };

fate draw_fate(const synthetic_params& p, random_stream& random) {
  auto u = random.uniform();
  for (const auto& [share, f] :
       {std::pair(p.diverge, fate::diverges), std::pair(p.crash, fate::crashes),
        std::pair(p.hang, fate::hangs), std::pair(p.hog, fate::hogs)}) {
    if (u < share)
      return f;
    u -= share;
  }
  return fate::well;
}

[[noreturn]] void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  std::abort();
}

[[noreturn]] void hang() {
  while (true)
    pause();
}

/// Touches every page, for memory that is only promised does no harm; gives all back.
void hog_memory() {
  constexpr std::size_t block = 16 << 20, page = 4096;
  std::vector<std::unique_ptr<char, decltype(&std::free)>> blocks;
  try {
    while (auto* taken = static_cast<char*>(std::malloc(block))) {
      blocks.emplace_back(taken, &std::free);
      for (std::size_t i = 0; i < block; i += page)
        static_cast<volatile char*>(taken)[i] = 1;
    }
  } catch (const std::bad_alloc&) { // The list of blocks itself found no room.
    return;
  }
}

/// The metric of that name, if it is one of ours: the objective's, where it has another
/// name, is the score turned so that better is fitter.
std::vector<metric> metrics_of(double score, const objective& goal,
                               const std::string& split) {
  std::vector<metric> metrics{{split + ".accuracy", score}, {split + ".loss", 1 - score}};
  const auto dot = goal.metric.find('.');
  const auto name =
      fmt::format("{}.{}", split,
                  dot == std::string::npos ? goal.metric : goal.metric.substr(dot + 1));
  if (!find(metrics, name))
    metrics.push_back({name, goal.maximize ? score : 1 - score});
  std::sort(metrics.begin(), metrics.end(),
            [](const metric& a, const metric& b) { return a.name < b.name; });
  return metrics;
}

bytes make_weights(const job& j) {
  auto random = derive(j.seed, purpose::synthetic, weights_of, j.id);
  bytes weights;
  for (int word = 0; word < 4; ++word) {
    const auto bits = random.next();
    for (int i = 0; i < 8; ++i)
      weights.push_back(static_cast<char>(bits >> (8 * i)));
  }
  return weights;
}

class synthetic final : public fitness_function {
public:
  explicit synthetic(synthetic_setup setup)
      : space_(std::move(setup.space)),
        problem_(std::move(setup.problem)),
        params_(setup.params),
        goal_(std::move(setup.goal)) {}

  expected<std::uint64_t> warm_up() override { return 0; }

  evaluated_job evaluate(const job& j, progress& p) override {
    const auto start = steady_clock::now();
    evaluated_job result;
    auto& e = result.evaluation;
    e.id = j.id;
    train(j, p, e);
    if (e.outcome == outcome::succeeded) {
      add_costs(j, e);
      auto weights = make_weights(j);
      e.weights_hash = hash64(weights);
      if (fitness_of(e, goal_).primary > j.keep_weights_above)
        result.weights = std::move(weights);
    }
    e.seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
    return result;
  }

  expected<examination> examine(const job& j, const bytes& weights) override {
    if (derive(j.seed, purpose::synthetic, j.id, hash64("test")).uniform()
        < params_.hang_test)
      hang();
    if (!weights.empty() && weights != make_weights(j))
      return fail(error_kind::corrupt,
                  fmt::format("the weights of #{} are those of another", j.id));
    const auto decoded = decode(space_, j.genome, problem_);
    if (!decoded)
      return tl::unexpected(decoded.error());
    examination e;
    e.id = j.id;
    const auto epochs = std::min(j.budget.epochs, params_.epochs);
    e.metrics = metrics_of(judge(j.genome, j.seed) * epochs / params_.epochs,
                           of_epochs(goal_), "test");
    e.parameters = decoded->cost().parameters;
    return e;
  }

private:
  void train(const job& j, progress& p, evaluation& e) const;
  void add_costs(const job& j, evaluation& e) const;
  bool spend(const job& j, double spread, std::uint32_t number, evaluation& e) const;

  search_space space_;
  problem problem_;
  synthetic_params params_;
  objective goal_;
};

/// Spends the time of that epoch, or what is left of the budget.
bool synthetic::spend(const job& j, double spread, std::uint32_t number,
                      evaluation& e) const {
  if (params_.duration.count() == 0)
    return true;
  const auto whole = spread * static_cast<double>(params_.duration.count());
  const auto until = [&](std::uint32_t n) {
    return microseconds(
        static_cast<std::int64_t>(whole * (n - j.start_epoch) / params_.epochs));
  };
  const auto begin = until(number - 1), end = until(number);
  const microseconds limit = j.budget.time;
  if (limit.count() == 0 || end <= limit) {
    std::this_thread::sleep_for(end - begin);
    return true;
  }
  std::this_thread::sleep_for(limit - begin);
  fail_with(e, outcome::timed_out,
            fmt::format("takes longer than {} ms", j.budget.time.count()));
  return false;
}

// Adds costs as if every slot did a thousand million multiply-adds a second.
void synthetic::add_costs(const job& j, evaluation& e) const {
  if (!wants_costs(goal_))
    return;
  const auto decoded = decode(space_, j.genome, problem_);
  if (!decoded)
    return;
  const auto work = static_cast<double>(decoded->cost().multiply_adds);
  add_cost(e, goal_, multiply_adds_metric, work);
  add_cost(e, goal_, latency_metric, work * 1e-6);
}

void synthetic::train(const job& j, progress& p, evaluation& e) const {
  auto random = derive(j.seed, purpose::synthetic, fates, j.id);
  const auto fate = draw_fate(params_, random);
  const auto spread = 0.5 + random.uniform();
  if (fate == fate::crashes)
    crash();
  if (fate == fate::hangs)
    hang();
  if (fate == fate::hogs) {
    hog_memory();
    return fail_with(e, outcome::out_of_memory, "no memory is left");
  }
  const auto decoded = decode(space_, j.genome, problem_);
  if (!decoded)
    return fail_with(e, outcome::invalid, decoded.error().message);
  e.parameters = decoded->cost().parameters;
  const double whole_score = judge(j.genome, j.seed);
  const auto last = std::min(j.budget.epochs, params_.epochs);
  for (auto number = j.start_epoch + 1; number <= last; ++number) {
    if (!spend(j, spread, number, e))
      return;
    if (fate == fate::diverges)
      return fail_with(e, outcome::diverged,
                       fmt::format("the loss is not a number in epoch {}", number));
    const auto score = whole_score * number / params_.epochs;
    e.metrics = metrics_of(score, of_epochs(goal_), "validation");
    const auto seconds = spread * 1e-6 * static_cast<double>(params_.duration.count());
    e.curve.push_back({number, e.metrics, seconds / params_.epochs});
    if (!p.report(e.curve.back()))
      return fail_with(e, outcome::timed_out, "was told to stop");
  }
}

expected<void> refuse(const std::string& name, double given, const char* advice) {
  return fail(error_kind::invalid_input,
              fmt::format("synthetic.{} is {}: {}", name, to_text(value{given}), advice));
}

} // namespace

expected<void> validate(const synthetic_params& params) {
  double sum = 0;
  for (const auto& [name, share] :
       {std::pair("diverge", params.diverge), std::pair("crash", params.crash),
        std::pair("hang", params.hang), std::pair("hog", params.hog),
        std::pair("hang_test", params.hang_test)}) {
    if (!(share >= 0 && share <= 1))
      return refuse(name, share, "it is a share, from 0 to 1");
    sum += share;
  }
  sum -= params.hang_test; // Which misbehaves later.
  if (sum > 1)
    return refuse("diverge + crash + hang + hog", sum, "shares add up to at most 1");
  if (params.duration.count() < 0)
    return refuse("duration", static_cast<double>(params.duration.count()),
                  "microseconds, at least 0");
  if (params.epochs == 0)
    return fail(error_kind::invalid_input, "synthetic.epochs is 0: at least 1");
  return {};
}

std::unique_ptr<fitness_function> make_synthetic(synthetic_setup setup) {
  return std::make_unique<synthetic>(std::move(setup));
}

} // namespace clade
