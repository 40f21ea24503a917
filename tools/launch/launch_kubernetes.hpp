#pragma once

#include "tools/launch/key_bundle.hpp"

#include <cstddef>
#include <string>

namespace clade {

/// Workers for a run as the pods of one object.
struct kubernetes_job {
  std::string kind = "job"; ///< The kind, one of `kubernetes_kinds`.
  std::string run;          ///< The name of the run's folder.
  std::string name_space = "default";
  std::string image;             ///< Has clade, and a shell.
  std::string program = "clade"; ///< In the image.
  std::string connect;           ///< "203.0.113.7:7411", as pods reach it.
  key_bundle keys;
  std::string slots; ///< Empty: all GPUs of the pod, or as many CPU slots as it has CPUs.
  std::size_t workers = 1; ///< Pods, a Master or Chief among them.
  std::size_t servers = 0; ///< Pods more, of a tfjob, in the role PS.
  std::size_t gpus = 0;    ///< The GPUs of each worker.
  std::size_t cpus = 1;    ///< The CPUs of each worker.
  std::string memory;      ///< The memory of each worker, "8Gi"; empty: no limit.
};

/// The kinds in a sentence: "job, pytorchjob, tfjob or trainjob".
[[nodiscard]] std::string kubernetes_kinds();

/// YAML for `kubectl apply -f -`: a Secret with the keys, and the object. A pod has no
/// rights, no account and no root. `invalid_input` for what Kubernetes would refuse.
///
/// kind        object                                      complete when
/// job         batch/v1 Job, Indexed                       all its pods are
/// trainjob    trainer.kubeflow.org TrainJob, with the     all its pods are
///             TrainingRuntime that makes it such a Job
/// pytorchjob  kubeflow.org PyTorchJob                     its Master is
/// tfjob       kubeflow.org TFJob                          its Chief is
///
/// A pod is complete when the run is over. Roles mean nothing to Clade: each pod is a
/// worker, and the run chooses which slots train together. Evicted pods are made again;
/// those of a Job without being counted. One that the run refuses ends the Job at once,
/// and a PyTorchJob or TFJob after a few attempts.
[[nodiscard]] expected<std::string> kubernetes_manifest(const kubernetes_job& job);

} // namespace clade
