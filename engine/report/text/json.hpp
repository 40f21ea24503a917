#pragma once

#include "engine/report/base/node_costs.hpp"
#include "engine/report/view/front_view.hpp"
#include "engine/report/view/view.hpp"

#include <span>

namespace clade {

/// Each returns what programs read: one JSON object, on one line, without the line's end.
/// Names are those of the structs; what is not known is null; times are milliseconds
/// since 1970.
[[nodiscard]] std::string to_json(const run_view& r);
/// `front`: of several objectives. `end`: of a finished run, told under "end" without the
/// champion's genome. `annotated`: under "annotations" (json_parts.hpp).
[[nodiscard]] std::string
to_json(const run_view& r, std::span<const generation_overview> generations,
        std::span<const node_overview> nodes, const std::optional<front_view>& front = {},
        const std::optional<champion_view>& end = {}, const annotations& annotated = {});
[[nodiscard]] std::string to_json(std::span<const candidate_overview> members,
                                  std::uint64_t generation);
/// `annotated`, of that candidate, under "annotation"; left out where it is none.
[[nodiscard]] std::string to_json(const genome_view& g,
                                  const annotation* annotated = nullptr);
/// {"champion","validation_metric","test_metric","comparison","details","verdict",
/// "seeds"}: details and seeds as in json_parts.hpp.
[[nodiscard]] std::string to_json(const champion_view& c);
/// ["The champion is behind the linear model ..."]
[[nodiscard]] std::string verdict_json(const champion_view& c);
/// {"curves": [{"id", "metrics", "curve"}]}: of those that are evaluated.
[[nodiscard]] std::string curves_json(std::span<const genome_view> candidates);
/// {"nodes": {GENE: {"shape", "parameters", "multiply_adds"}}}
[[nodiscard]] std::string to_json(const node_costs& costs);

} // namespace clade
