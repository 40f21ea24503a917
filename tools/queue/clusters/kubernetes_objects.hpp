#pragma once

#include "engine/report/base/json_parts.hpp"

namespace clade {

// The objects that `kubectl get --output json` prints, as ours.

/// Whether a Job has completed or failed.
[[nodiscard]] bool has_ended(const ordered_json& job);
/// A Job, as `cluster` has entries.
[[nodiscard]] ordered_json read_kubernetes_job(const ordered_json& job);
/// A list of pods, as `cluster::processes` has them.
[[nodiscard]] ordered_json read_kubernetes_pods(const ordered_json& answer);
/// A list of nodes, as `cluster::machines` has them: a line for each kind of device.
[[nodiscard]] ordered_json read_kubernetes_nodes(const ordered_json& answer);

} // namespace clade
