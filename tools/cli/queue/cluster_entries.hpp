#pragma once

#include "tools/cli/base/command.hpp"
#include "tools/queue/clusters/cluster.hpp"

#include <string>
#include <vector>

namespace clade {

/// Which cluster is meant instead of a queue; `to` empty: none.
struct cluster_choice {
  std::string to, name_space;
};

/// Adds --to and --namespace.
void add_cluster_options(CLI::App& sub, cluster_choice& choice);

/// A question to a cluster about its entries.
struct cluster_question {
  cluster_choice cluster;
  std::vector<std::string> ids{};
  bool watch = false, all = false, json = false;
  int rank = -1; ///< The rank whose lines of a log are wanted; -1: all.
};

// Each prints what the verb of that name prints of a queue.
[[nodiscard]] expected<void> get_of_cluster(const cluster_question& q);
[[nodiscard]] expected<void> describe_of_cluster(const cluster_question& q);
[[nodiscard]] expected<void> log_of_cluster(const cluster_question& q);
[[nodiscard]] expected<void> cancel_of_cluster(const cluster_question& q);
[[nodiscard]] expected<void> pods_of_cluster(const cluster_question& q);
[[nodiscard]] expected<void> top_of_cluster(const cluster_question& q);
/// Returns whether all have succeeded.
[[nodiscard]] expected<bool> wait_of_cluster(const cluster_question& q);

} // namespace clade
