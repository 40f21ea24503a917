#pragma once

#include "engine/report/front_view.hpp"
#include "engine/report/view.hpp"

#include <span>

namespace clade {

/// What programs read: one JSON object, on one line, without the line's end. Names are
/// those of the structs; what is not known is null; times are milliseconds since 1970.
[[nodiscard]] std::string to_json(const run_view& r);
/// `front`: of several objectives.
[[nodiscard]] std::string to_json(const run_view& r,
                                  std::span<const generation_overview> generations,
                                  std::span<const node_overview> nodes,
                                  const std::optional<front_view>& front = {});
[[nodiscard]] std::string to_json(std::span<const candidate_overview> members,
                                  std::uint64_t generation);
[[nodiscard]] std::string to_json(const genome_view& g);
[[nodiscard]] std::string to_json(const champion_view& c);

} // namespace clade
