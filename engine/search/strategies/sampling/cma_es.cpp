// The distribution changes when a generation is closed, by what was told of it alone; a
// candidate is drawn from it where it is bred. A point is taken from the genome that was
// trained, not from the draw it came of, so that genomes of any origin (a person's, those
// moved because their network was known) are steps like others.
#include "engine/search/strategies/sampling/cma_es.hpp"

#include "engine/search/bases/numbers_alone.hpp"
#include "engine/search/core/parameter_checks.hpp"
#include "genome/genes/unit_cube.hpp"
#include "genome/variation/retuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// The deviation of an even draw.
constexpr double first_sigma = 0.28867513459481287;
/// The deviation that the few digits of a real can tell apart.
constexpr double least_real = 1e-4;
constexpr double least_share_of_step = 0.25;
constexpr double narrow_share = 1.5;
constexpr std::uint64_t most_doublings = 3;
constexpr std::uint64_t moved_from_attempt = 4;

class draw_of final : public proposal {
public:
  draw_of(gaussian g, std::vector<std::size_t> coordinates, std::string origin)
      : distribution_(std::move(g)),
        coordinates_(std::move(coordinates)),
        origin_(std::move(origin)) {}

  // The parameters that do not vary, and the layers, are those of any genome of the
  // space.
  [[nodiscard]] expected<offspring> make(const breeding_rules& rules,
                                         const breeding& order) const override {
    auto random = derive(rules.seed, purpose::mutation, order.generation, order.index,
                         order.attempt);
    auto made = sample(rules.space, rules.problem, random);
    if (!made)
      return made;
    const auto& parameters = rules.space.rules.hyperparameters;
    std::vector<double> point(parameters.size(), 0.5);
    const auto drawn = distribution_.draw(random);
    for (std::size_t i = 0; i < coordinates_.size(); ++i)
      point[coordinates_[i]] = drawn[i];
    made->child.hyperparameters = from_unit(parameters, point);
    made->changes = {{.kind = change_kind::proposed, .after = origin_}};
    if (order.attempt >= moved_from_attempt)
      if (auto moved = change_hyperparameter(rules.space.rules, made->child, random))
        made->changes.push_back(std::move(*moved));
    return made;
  }

private:
  gaussian distribution_;
  std::vector<std::size_t> coordinates_;
  std::string origin_;
};

/// How far it is from the value there to the next; 0 of a real.
double step_at(const parameter& p, double place) {
  if (const auto* list = std::get_if<choice_domain>(&p.domain))
    return 1.0 / static_cast<double>(list->options.size());
  const auto* whole = std::get_if<integer_domain>(&p.domain);
  if (whole == nullptr)
    return 0;
  const auto here = std::get<std::int64_t>(from_unit(p, place));
  const auto there = here > whole->low ? here - whole->step : here + whole->step;
  return std::fabs(to_unit(p, value{there}) - to_unit(p, value{here}));
}

} // namespace

cma_es::cma_es(const evolution_params& params, std::uint64_t seed,
               std::shared_ptr<const search_space> space)
    : generations(params, seed),
      space_(std::move(space)) {
  if (space_)
    for (std::size_t i = 0; i < space_->rules.hyperparameters.size(); ++i)
      if (varies(space_->rules.hyperparameters[i]))
        coordinates_.push_back(i);
  distribution_ = gaussian(std::vector<double>(coordinates_.size(), 0.5), first_sigma);
}

expected<void> cma_es::serves(const search_space& space) {
  if (auto ok = check_numbers_alone(space, "cma_es"); !ok)
    return ok;
  for (const parameter& p : space.rules.hyperparameters)
    if (!is_ordered(p))
      return cannot_serve(space, "cma_es",
                          fmt::format("has {}, a choice without an order", p.name),
                          "\"differential_evolution\", \"regularized\" or "
                          "\"generational\"");
  return {};
}

expected<void> cma_es::validate(const evolution_params& params) {
  return check_number("population", params.population, 4, most_candidates);
}

void cma_es::choose_parents(breeding& order) const {
  if (!proposal_)
    return;
  order.how = breeding::kind::propose;
  order.proposal = proposal_;
}

std::vector<double> cma_es::point_of(const genome& g) const {
  const auto& parameters = space_->rules.hyperparameters;
  const auto all = to_unit(parameters, g.hyperparameters);
  std::vector<double> point;
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    const bool there =
        find(g.hyperparameters, parameters[coordinates_[i]].name) != nullptr;
    point.push_back(there ? all[coordinates_[i]] : distribution_.mean()[i]);
  }
  return point;
}

std::vector<double> cma_es::least_deviations() const {
  std::vector<double> least;
  for (std::size_t i = 0; i < coordinates_.size(); ++i)
    least.push_back(
        std::max(least_real, least_share_of_step
                                 * step_at(space_->rules.hyperparameters[coordinates_[i]],
                                           distribution_.mean()[i])));
  return least;
}

void cma_es::close() {
  if (!coordinates_.empty())
    for (const auto& child : children()) {
      told one{.who = child, .point = point_of(*child.genome)};
      one.who.genome.reset();
      told_.push_back(std::move(one));
    }
  const auto closed = generation();
  generations::close();
  ++waited_;
  if (!told_.empty()
      && waited_ >= std::uint64_t{1} << std::min(restarts_, most_doublings))
    follow(closed);
  propose();
}

// From failures nothing is learnt but that they are not among the better half.
void cma_es::follow(std::uint64_t closed) {
  std::ranges::sort(told_, fitter, &told::who);
  std::vector<std::vector<double>> points;
  for (const auto& t : told_)
    if (t.who.fitness.ok)
      points.push_back(t.point);
  const auto drawn = told_.size();
  const auto least = least_deviations();
  distribution_.follow(points, drawn, least);
  ++steps_without_better_;
  if (!points.empty() && (!best_ || fitter(told_.front().who, *best_))) {
    best_ = told_.front().who;
    steps_without_better_ = 0;
  }
  told_.clear();
  waited_ = 0;
  bool is_narrow = true;
  for (std::size_t i = 0; i < coordinates_.size(); ++i)
    is_narrow = is_narrow && distribution_.deviation(i) <= narrow_share * least[i];
  if (!is_narrow && steps_without_better_ < 10 + 30 * coordinates_.size() / drawn)
    return;
  auto random = derive(seed(), purpose::selection, closed, 0);
  std::vector<double> anywhere(coordinates_.size());
  for (double& x : anywhere)
    x = random.uniform();
  distribution_ = gaussian(std::move(anywhere), first_sigma);
  ++restarts_;
  best_.reset();
  steps_without_better_ = 0;
}

void cma_es::propose() {
  if (coordinates_.empty())
    return;
  std::string origin = "drawn by CMA-ES";
  if (restarts_ > 0)
    origin += fmt::format(", restart {}", restarts_);
  proposal_ = std::make_shared<draw_of>(distribution_, coordinates_, std::move(origin));
}

} // namespace clade
