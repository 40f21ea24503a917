#pragma once

#include "engine/report/view/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The source in which an explanation finds candidates; a store, or literals in a test.
struct ancestry {
  std::function<expected<candidate>(candidate_id)> find_candidate;
  std::function<expected<candidate_overview>(candidate_id)> find_overview;
};

/// A candidate on the line to the one that is explained, and what it changed.
struct ancestry_step {
  candidate_overview who;
  /// Against its fitter parent, in the objective's metric; none without one, where one of
  /// the two failed, and where they were trained for other numbers of epochs: what
  /// further training gives is no change's merit.
  std::optional<double> gain;
  std::vector<change> changes;
  /// At a crossing the less fit parent, and what came from it: "n3f2a1 conv(filters=32)",
  /// "momentum=0.9".
  std::optional<candidate_overview> other;
  std::vector<std::string> nodes_from_other, settings_from_other;
};

/// A gene of the candidate that is explained, or one of its hyperparameters.
struct inherited_gene {
  enum class kind : std::uint8_t { node, edge, hyperparameter };

  kind what = kind::node;
  std::string name;       ///< "n3f2a1", "n3f2a1..output", "learning_rate"
  std::string innovation; ///< "n3f2a1c20d...": the whole number; empty for the last kind.
  std::string value;      ///< "conv(filters=32, kernel=3)", "0.003"; empty for an edge.
  /// Which parent it came from; 0 if it is the candidate's own.
  candidate_id from = 0;
  candidate_id introduced = 0; ///< The ancestor that had it first.
  candidate_id settled = 0;    ///< The one since which it is as it is now.
};

/// Why a network exists.
struct explanation {
  std::string run; ///< Its name.
  run_standing state = run_standing::running;
  objective goal;
  candidate_overview subject;
  /// Along the fitter parents, the oldest first, the subject last.
  std::vector<ancestry_step> line;
  std::vector<inherited_gene> genes;
  /// Ancestors that are not on the line, the youngest first, at most `most_others`.
  std::vector<candidate_overview> others;
  /// The branches that its training found, the most important first; the genes by their names
  /// in `genes`. Empty where the strategy did not ask for them.
  std::vector<branch_importance> branches;
  std::uint64_t ancestors = 0; ///< On the line or not, without the subject.

  static constexpr std::size_t most_others = 1000;
};

/// The line of fitter parents that leads to a candidate.
[[nodiscard]] expected<std::vector<ancestry_step>> explain_line(const ancestry& from,
                                                                candidate_id id);

/// Which ancestor each live gene and each hyperparameter comes from. Structure is
/// inherited from the fitter parent, settings and hyperparameters from either
/// (genome/variation/crossover.hpp): a gene is followed to the parent that has it, to the
/// fitter if both do, until none has. Each ancestor is looked up once, and few are kept
/// at a time.
[[nodiscard]] expected<std::vector<inherited_gene>> trace_genes(const ancestry& from,
                                                                candidate_id id);

/// `run` without the digest. `id` 0: the champion, or the best so far.
[[nodiscard]] expected<explanation> explain(const store& s, const run_view& run,
                                            candidate_id id);

/// Returns the happenings at a step, a line or more: "crossed with #12 (0.8)", " from it:
/// momentum=0.9", "widen n3f2a1 16 -> 32".
[[nodiscard]] std::vector<std::string> happenings(const ancestry_step& step);

/// For people, 80 columns; a long line loses some of its middle.
[[nodiscard]] std::string to_text(const explanation& e);
/// For programs: one object on one line, without the line's end.
[[nodiscard]] std::string to_json(const explanation& e);

} // namespace clade
