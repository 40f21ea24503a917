#pragma once

#include "engine/search/core/candidate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// How far a run is by its records; not whether a process is at work (run_lock.hpp).
enum class stored_state : std::uint8_t { created, started, paused, finished };

/// "created", "started" ...
[[nodiscard]] const char* to_text(stored_state s);
/// None: no state has this text.
[[nodiscard]] std::optional<stored_state> parse_stored_state(std::string_view text);

/// A run in a few numbers, as the last transaction left them.
struct run_overview {
  objective goal;
  std::string version;    ///< Empty until the run is started.
  std::string experiment; ///< Resolved TOML.
  std::uint64_t seed = 0;
  std::int64_t started_ms = 0; ///< Since 1970.
  std::int64_t updated_ms = 0;
  stored_state state = stored_state::created;
  std::string reason;
  std::uint64_t records = 0;
  std::uint64_t generation = 0;
  std::uint64_t born = 0, evaluated = 0, failed = 0;
  /// How many of those born are trainings to the end, after the search.
  std::uint64_t final_trainings = 0;
  std::uint64_t search_generations = 0; ///< With a candidate that is no such training.
  double training_seconds = 0;
  candidate_id best = 0; ///< 0: none succeeded yet.
  double best_fitness = 0;
  candidate_id champion = 0;
};

/// A generation in numbers; the quartiles are those of the candidates that succeeded.
struct generation_overview {
  std::uint64_t generation = 0;
  std::uint64_t born = 0, evaluated = 0, failed = 0;
  candidate_id best = 0; ///< 0: none succeeded.
  double best_fitness = 0, lower_quartile = 0, median = 0, upper_quartile = 0;
  double training_seconds = 0;
  std::int64_t born_ms = 0;
  std::optional<std::int64_t> closed_ms;
  std::vector<candidate_id> survivors; ///< Best first; empty while it is not closed.
};

/// A candidate without its genes.
struct candidate_overview {
  candidate_id id = 0;
  std::uint64_t generation = 0, index = 0;
  std::string origin;
  std::vector<candidate_id> parents;
  candidate_id equal_to = 0;
  std::uint64_t nodes = 0;
  std::optional<outcome> result; ///< None: not evaluated yet.
  std::optional<double> fitness;
  std::uint64_t parameters = 0;
  double seconds = 0;
  std::string reason;
  std::uint32_t epochs = 0; ///< The epochs, as in `candidate`; the next is likewise.
  candidate_id start = 0;
};

/// A candidate as lists show it.
struct candidate_line {
  candidate_id id = 0;
  std::uint64_t generation = 0;
  std::string origin;
  std::int64_t born_ms = 0; ///< Since 1970, as all that end so.
  // From here on only once it is evaluated:
  std::int64_t evaluated_ms = 0; ///< 0: not yet.
  clade::outcome outcome = clade::outcome::succeeded;
  std::optional<double> fitness; ///< The objective's metric; none: it failed.
  clade::fitness rank;           ///< The same as selection compares it.
  std::uint64_t parameters = 0;
  double seconds = 0;
  std::string slot, reason;
  /// In a picture alone, the hash of its genome, which tells networks apart; none of one
  /// fold of several that are judged apart, which is none of the best.
  std::optional<genome_hash> genes{};
};

/// Fills in what is known once the candidate is evaluated.
void settle(candidate_line& line, const evaluation& e, const objective& goal,
            std::int64_t unix_ms);

/// Returns for each operator how many nodes on a path from the input to the output have
/// it, by name; a whole number each. The input and the output are not counted.
[[nodiscard]] std::vector<setting> count_operators(const genome& g);

/// A candidate with what tables and charts of many show of it.
struct candidate_row {
  candidate_line line;
  std::uint64_t index = 0; ///< Within its generation.
  std::vector<candidate_id> parents;
  candidate_id equal_to = 0;
  std::uint64_t nodes = 0;        ///< Genes.
  std::vector<setting> operators; ///< The operators, as by `count_operators`.
  std::vector<setting> hyperparameters;
  std::vector<metric> metrics;
  std::uint64_t born_sequence = 0;      ///< The sequence of its record.
  std::uint64_t evaluated_sequence = 0; ///< 0: not yet.
};

/// A slot, from when it joined.
struct node_overview {
  std::string slot;
  std::int64_t joined_ms = 0;
  std::optional<std::int64_t> left_ms;
  std::string reason;
  /// The device that it computed on (slot_changed): "AMD EPYC 7B13, MKL_CBWR=AVX2"; empty where that
  /// is not known.
  std::string device{};
};

} // namespace clade
