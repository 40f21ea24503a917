#pragma once

#include "tools/launch/key_bundle.hpp"

#include <cstddef>
#include <string>

namespace clade {

/// Workers for a run as the pods of one Job.
struct kubernetes_job {
  std::string run; ///< The name of the run's folder.
  std::string name_space = "default";
  std::string image;             ///< Has clade, and a shell.
  std::string program = "clade"; ///< In the image.
  std::string connect;           ///< "203.0.113.7:7411", as pods reach it.
  key_bundle keys;
  std::string slots; ///< Empty: all GPUs of the pod, or as many CPU slots as it has CPUs.
  std::size_t workers = 1;
  std::size_t gpus = 0; ///< Of each worker.
  std::size_t cpus = 1; ///< Of each worker.
  std::string memory;   ///< Of each worker, "8Gi"; empty: no limit.
};

/// YAML for `kubectl apply -f -`: a Secret with the keys and an Indexed Job. A pod that
/// is evicted is made again without being counted, one that the run refuses ends the Job.
/// A pod has no rights, no account and no root. `invalid_input` for what Kubernetes would
/// refuse.
[[nodiscard]] expected<std::string> kubernetes_manifest(const kubernetes_job& job);

} // namespace clade
