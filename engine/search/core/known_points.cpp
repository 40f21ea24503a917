#include "engine/search/core/known_points.hpp"

#include "engine/search/core/parameter_checks.hpp"
#include "search_spaces/files/points.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

class known_candidate final : public proposal {
public:
  explicit known_candidate(std::string point) : point_(std::move(point)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    auto random =
        derive(rules.seed, purpose::sample, order.generation, order.index, order.attempt);
    if (order.attempt > 0)
      return sample(rules.space, rules.problem, random);
    const auto points = parse_points(point_, "evolution.points", rules.space);
    if (!points)
      return tl::unexpected(points.error());
    const auto& point = points->front();
    auto made = genome_of(point, rules.space, rules.problem, random);
    if (!made)
      return tl::unexpected(made.error());
    return offspring{.child = std::move(*made),
                     .changes = {{.kind = change_kind::seeded, .name = point.name}}};
  }

private:
  std::string point_;
};

} // namespace

void keys(own_keys& v, known_points& p) {
  v.path(describe("first", "A file of points that are known to be good, the first "
                           "candidates of the search: genomes or hyperparameters alone "
                           "(`clade help search-spaces`)."),
         p.file);
  v.unusual_list(describe("points",
                          "Written by Clade into a resolved experiment: the points that "
                          "`first` named."),
                 p.points, {});
}

const std::vector<std::string>& points_of(const evolution_params& params) {
  return params.own.of<known_points>().points;
}

expected<void> check_known_points(const evolution_params& params) {
  const auto count = points_of(params).size();
  if (count <= params.population)
    return {};
  return wrong_parameter(
      "first", fmt::format("a file of {} points", count),
      fmt::format("all must be among the first {} candidates; write population = {}",
                  params.population, count));
}

std::vector<std::string> leave_out_points(evolution_params& params,
                                          const search_space& space, const problem& p) {
  std::vector<std::string> said;
  if (points_of(params).empty())
    return said;
  std::erase_if(params.own.of<known_points>().points, [&](const std::string& text) {
    std::string name = "of evolution.first";
    const auto fits =
        parse_points(text, "evolution.points", space).and_then([&](const auto& points) {
          name = points.front().name;
          return check_fits(points.front(), space, p);
        });
    if (!fits)
      said.push_back(fmt::format("the point {} is left out, as it does not fit: {}", name,
                                 fits.error().message));
    return !fits;
  });
  return said;
}

void begin_at(breeding& order, const std::string& point) {
  order = {.id = order.id,
           .generation = order.generation,
           .index = order.index,
           .how = breeding::kind::propose,
           .proposal = std::make_shared<const known_candidate>(point),
           .epochs = order.epochs};
}

} // namespace clade
