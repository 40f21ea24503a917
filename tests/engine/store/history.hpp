#pragma once

#include "engine/store/run/store.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade::test {

/// A random one of generation 0, unless changed.
[[nodiscard]] candidate a_candidate(candidate_id id);

/// It succeeded, with that accuracy, after two epochs.
[[nodiscard]] evaluation an_evaluation(candidate_id id, double accuracy);

[[nodiscard]] entry born(candidate c);
[[nodiscard]] entry evaluated(evaluation e, bytes weights = {});

/// Returns the content of a store of a run of 2 generations of 3 candidates: all kinds of
/// records, two failures, a copy, and the weights of #5. The best is #5 with 0.9; not in
/// the order of ids.
[[nodiscard]] std::vector<entry> a_history();

/// Any record of any kind.
[[nodiscard]] record any_record();

/// Makes a store of these entries, in transactions of `batch`, and closes it.
void write_store(const std::filesystem::path& file, const std::vector<entry>& entries,
                 std::size_t batch = 4);

/// The content of a store, as bytes, and its fault, if any.
struct contents {
  std::vector<bytes> records;
  std::optional<error> failure;
};
[[nodiscard]] contents read_all(const store& s);
[[nodiscard]] std::vector<bytes> encoded(const std::vector<entry>& entries);

/// The rows of a query: columns separated by '|', a line each.
[[nodiscard]] std::string query(const std::filesystem::path& file,
                                const std::string& sql);

/// Runs statements.
void execute(const std::filesystem::path& file, const std::string& sql);

} // namespace clade::test
