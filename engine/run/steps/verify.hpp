#pragma once

#include "engine/run/state/run_state.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace clade {

/// How a run decides, as the experiment in its records says.
struct replay_rules {
  run_rules fold;
  search_space space;
  clade::problem problem;
  /// The hash that the record with the experiment must have.
  genome_hash search{};
};

/// Reads the resolved experiment of a record.
using rules_reader = std::function<expected<replay_rules>(const std::string& experiment)>;

/// A decision is one choice that the search made, which `verify` makes again from the
/// seed, the rules and the records before, and compares with what is stored. These are
/// counted, each once:
///
///   starts      that a run, or a fork, begins with that seed and search
///   places      which candidate is next: its id, generation and index
///   parents     one for each parent that selection drew (none: that it was sampled)
///   networks    one for each attempt to breed a candidate: those before the last must
///               give networks that were known, the last the stored genome with its hash,
///               origin and work
///   equals      which older candidate, if any, has an equal network
///   copies      that an evaluation is a copy, and all that it copies
///   closings    which generation is complete
///   survivors   one for each place among those that may breed
///   ends        that the search is over, its champion, and who else is tested
///
/// The measurements of training (metrics, parameters, the hash of weights) decide, but
/// are no decisions of the search: they are held against themselves here, and trained
/// again by `clade replay --retrain`. So are zero-cost scores: a network is bred again by
/// those that were recorded with it, on whatever machine; they are not measured again.
struct decision_counts {
  std::uint64_t starts = 0, places = 0, parents = 0, networks = 0, equals = 0, copies = 0,
                closings = 0, survivors = 0, ends = 0;

  [[nodiscard]] std::uint64_t total() const {
    return starts + places + parents + networks + equals + copies + closings + survivors
           + ends;
  }
};

/// A stored decision that is not the one made again.
struct difference {
  std::uint64_t sequence = 0;
  std::string record; ///< The record as a line.
  std::string stored, made;
};

struct verification {
  clade::digest digest;
  decision_counts decisions; ///< Up to the first difference, those that are equal.
  std::uint64_t records = 0, candidates = 0;
  std::optional<difference> first;
};

/// Takes the records of a run in their order, finished or not. The fold is made in the
/// caller's thread; candidates are bred again by `threads` others.
class verifier {
public:
  verifier(rules_reader read, std::size_t threads);
  ~verifier();
  verifier(const verifier&) = delete;
  verifier& operator=(const verifier&) = delete;

  /// An error: the rules cannot be read, or a difference is known already, of this record
  /// or one before; there is then no use in going on.
  [[nodiscard]] expected<void> take(std::uint64_t sequence, const record& r);

  /// Waits for what is being bred. To be called once, after the last record.
  [[nodiscard]] verification finish();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace clade
