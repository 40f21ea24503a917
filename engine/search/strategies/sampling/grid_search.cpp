// The networks of a space with layers are one more parameter of the grid, a list.
#include "engine/search/strategies/sampling/grid_search.hpp"

#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/models/base/parameter_grid.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/files/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t most_points_per_range = 1'000;
/// No hyperparameter has that name.
constexpr const char* network_name = "the network";

std::vector<parameter> dimensions(const search_space& space) {
  auto all = space.rules.hyperparameters;
  if (!has_layers(space.rules))
    return all;
  choice_domain networks;
  for (std::size_t i = 0; i < space.seeds.size(); ++i)
    networks.options.emplace_back(static_cast<std::int64_t>(i));
  all.push_back({.name = network_name, .domain = std::move(networks)});
  return all;
}

class grid_point final : public proposal {
public:
  explicit grid_point(std::vector<setting> settings) : settings_(std::move(settings)) {}

  expected<offspring> make(const breeding_rules& rules, const breeding&) const override {
    const auto& space = rules.space;
    offspring made{.child = {}, .changes = {{.kind = change_kind::proposed}}};
    auto settings = settings_;
    if (const auto* network = find(settings, network_name)) {
      const auto place = static_cast<std::size_t>(std::get<std::int64_t>(*network));
      auto random = derive(rules.seed, purpose::sample, 0, place);
      made.child = genome_of(space.seeds.at(place), space.rules, random);
      made.changes.front().after =
          fmt::format("point of the grid, seed {}", space.seeds.at(place).name);
      clade::erase(settings, network_name);
    } else {
      auto random = derive(rules.seed, purpose::sample, 0, 0);
      auto sampled = sample(space, rules.problem, random);
      if (!sampled)
        return sampled;
      made.child = std::move(sampled->child);
      made.changes.front().after = "point of the grid";
    }
    made.child.hyperparameters = std::move(settings);
    return made;
  }

private:
  std::vector<setting> settings_;
};

std::string advice(const evolution_params& params, const std::vector<parameter>& cut,
                   std::size_t points) {
  const auto room = params.population * params.generations;
  std::string text;
  for (auto less = params.own.of<grid_params>().points_per_range - 1; less > 0; --less)
    if (const auto fewer = count_grid(cut, less); fewer <= room) {
      text =
          fmt::format("points_per_range = {} ({} points) or ", less, with_commas(fewer));
      break;
    }
  return fmt::format("write {}generations = {}", text,
                     (points + params.population - 1) / params.population);
}

} // namespace

void keys(own_keys& v, grid_params& p) {
  v.unusual(describe("points_per_range",
                     "A range is cut into so many points, both ends among them, in even "
                     "steps (of the logarithm where the range is one); of a list all "
                     "values are taken. Strategy grid."),
            p.points_per_range, grid_params{}.points_per_range);
}

std::size_t grid_size(const evolution_params& params, const search_space& space) {
  return count_grid(dimensions(space), params.own.of<grid_params>().points_per_range);
}

grid_search::grid_search(const evolution_params& params, std::uint64_t seed,
                         std::shared_ptr<const search_space> space)
    : generations(params, seed) {
  if (!space)
    return;
  for (auto& point : grid_points(dimensions(*space),
                                 params.own.of<grid_params>().points_per_range, seed))
    points_.push_back(std::make_shared<const grid_point>(std::move(point)));
}

expected<void> grid_search::serves(const search_space& space) {
  if (has_layers(space.rules) && space.seeds.empty())
    return fail(
        error_kind::invalid_input,
        fmt::format("evolution.strategy is \"grid\", which lists all candidates, but the "
                    "search space {} has layers to choose and no seeds: write the "
                    "networks as [seeds.NAME], or take \"random\"",
                    space.name));
  return {};
}

expected<void> grid_search::validate(const evolution_params& params) {
  return check_number("points_per_range", params.own.of<grid_params>().points_per_range,
                      1, most_points_per_range);
}

expected<void> grid_search::fits(const evolution_params& params,
                                 const search_space& space) {
  const auto points = grid_size(params, space);
  const auto room = params.population * params.generations;
  if (points <= room)
    return {};
  return wrong_parameter(
      "strategy", "\"grid\"",
      fmt::format("the grid has {}{} points and the search makes {} candidates; {}",
                  points < most_grid_points ? "" : "at least ", with_commas(points),
                  with_commas(room), advice(params, dimensions(space), points)));
}

void grid_search::choose_parents(breeding& order) const {
  if (points_.empty())
    return;
  order.how = breeding::kind::propose;
  order.proposal = points_[(order.id - 1 - given_before(order.id)) % points_.size()];
}

} // namespace clade
