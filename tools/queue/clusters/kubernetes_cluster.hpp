#pragma once

#include "tools/queue/clusters/cluster.hpp"

namespace clade {

/// A Job of Kubernetes is an entry, asked for by kubectl in that namespace; empty: the one
/// of kubectl's context.
[[nodiscard]] std::unique_ptr<cluster> open_kubernetes(std::string name_space);

/// The manifest of a Job with one pod, as JSON, which YAML readers read: slots are CPUs or
/// nvidia.com/gpu, the time is activeDeadlineSeconds. An entry that is to be begun again
/// (`requeue`) is so six times at most. `invalid_input` for what Kubernetes has no equal
/// of: a priority that is a number, and an order of entries.
[[nodiscard]] expected<std::string> kubernetes_entry_manifest(const cluster_job& job);

} // namespace clade
