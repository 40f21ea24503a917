#pragma once

#include "engine/report/view/view.hpp"

#include <span>
#include <string_view>

namespace clade {

/// Each returns what people read, for a terminal of 80 columns or more. It ends with a
/// line's end.

/// A run: its state, how far it is, its best.
[[nodiscard]] std::string to_text(const run_view& r);

/// The same with these lines in place of its candidates and its best.
[[nodiscard]] std::string to_text(const run_view& r, std::string_view lines);

/// A line for each generation.
[[nodiscard]] std::string to_text(std::span<const generation_overview> generations);

/// A line for each candidate of a generation, the fittest first.
[[nodiscard]] std::string to_text(std::span<const candidate_overview> members,
                                  const objective& goal);

/// A candidate: its graph, what became of it, its learning curve, where it comes from.
[[nodiscard]] std::string to_text(const genome_view& g);

/// The end of a run: the champion, where it comes from, and what evolution earned.
[[nodiscard]] std::string to_text(const champion_view& c);

/// Names the members of an ensemble with their shares, four in a line; a model that was
/// left out has a line.
[[nodiscard]] std::string members_text(const model_composed& composed);

/// Returns what people wrote: on the run and on candidates, or (the second) on one of
/// them; empty where nobody did. It is fit for a terminal whatever they wrote.
[[nodiscard]] std::string to_text(const annotations& all);
[[nodiscard]] std::string to_text(const annotation& one);

/// A line for each run.
[[nodiscard]] std::string to_text(std::span<const run_view> runs);

/// "#231  generation 9  0.9861  from #198 + #201: widen n3f2a1 16 -> 32", a line each; in
/// the middle of a long one some are left out.
[[nodiscard]] std::string lineage_text(std::span<const candidate_overview> lineage);

} // namespace clade
