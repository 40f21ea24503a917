#pragma once

#include "engine/evolution/candidate.hpp"
#include "genome/codec.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace clade {

/// The first record of a run.
struct run_started {
  std::string version{};
  std::string experiment{}; ///< Resolved TOML, all defaults included (engine/config).
  std::uint64_t seed = 0;
  /// Of what decides the search: `experiment` less slots and wall time.
  genome_hash search{};
};

/// A candidate was bred; recorded before it is handed out.
struct candidate_born {
  candidate born;
};

/// A candidate was evaluated; recorded before selection sees it. One for each candidate.
struct candidate_evaluated {
  evaluation evaluated;
};

/// A generation is complete; parents are drawn from these, best first.
struct generation_closed {
  std::uint64_t generation = 0;
  std::vector<candidate_id> survivors;
};

/// Metrics on the held-out test data, of the champion and of what it is compared with.
struct examination {
  std::string subject; ///< "champion", "best random candidate", "linear model"
  candidate_id id = 0; ///< 0 for the linear model.
  std::vector<metric> metrics;
  std::uint64_t parameters = 0;
};

/// The end of the search: the champion met the test data.
struct run_finished {
  candidate_id champion = 0; ///< 0: no candidate succeeded.
  std::vector<examination> examinations;
};

/// Observations, which decide nothing and do not enter the digest.
struct run_paused {
  std::string reason; ///< "interrupted", "wall time used"
};
struct run_resumed {
  std::string version;
};
struct attempt_failed {
  candidate_id id = 0;
  std::uint32_t attempt = 0;
  std::string slot;
  std::string reason;
};
struct slot_changed {
  std::string slot;
  bool joined = true;
  std::string reason;
};

/// From here on another experiment decides: the records before are those of another run,
/// its observations left out, up to the start of that generation.
struct run_forked {
  std::string origin{};       ///< That run's folder: "digits-20260131-140500".
  std::uint64_t identity = 0; ///< `store::identity` of its store.
  std::uint64_t sequence = 0; ///< Of the last record that was taken from it.
  std::uint64_t generation = 0;
  std::vector<std::string> changes{}; ///< "evolution.population=32"
  std::string experiment{};           ///< As in run_started, and so are these:
  std::uint64_t seed = 0;
  genome_hash search{};
};

using record = std::variant<run_started, candidate_born, candidate_evaluated,
                            generation_closed, run_finished, run_paused, run_resumed,
                            attempt_failed, slot_changed, run_forked>;

/// msgpack: [kind, fields...]; grammar at the top of record.cpp. Total, as all decoders.
[[nodiscard]] bytes encode(const record& r);
[[nodiscard]] expected<record> decode_record(std::span<const char> data);

/// Parts of records that messages carry too. The decoding ones report through
/// `d.finish()`.
void encode(encoder& out, const candidate& c);
void encode(encoder& out, const evaluation& e);
void encode(encoder& out, const epoch& e);
void encode(encoder& out, const examination& e);
[[nodiscard]] candidate decode_candidate(decoder& d);
[[nodiscard]] evaluation decode_evaluation(decoder& d);
[[nodiscard]] epoch decode_epoch(decoder& d);
[[nodiscard]] examination decode_examination(decoder& d);

/// The bytes of a record that the digest covers; empty for observations.
[[nodiscard]] bytes decisive_bytes(const record& r);

/// A line: "born #12 generation 1 from #3: widen n3f2a1".
[[nodiscard]] std::string to_text(const record& r);

/// One number over all decisions of a run, in whatever order evaluations arrived: the sum
/// of the records' 128-bit hashes. The signature test (DESIGN section 4) compares it with
/// a constant.
struct digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint64_t records = 0;

  void add(const record& r);
  friend bool operator==(const digest&, const digest&) = default;
};

[[nodiscard]] std::string to_text(const digest& d);

} // namespace clade
