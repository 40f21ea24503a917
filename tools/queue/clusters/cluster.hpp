#pragma once

#include "engine/queue/queue_entry.hpp"
#include "engine/report/base/json_parts.hpp"
#include "genome/base/error.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// The description of an entry that a cluster gets.
struct cluster_job {
  queue_submission what; ///< Its `user` is who submits.
  std::string program;   ///< clade, for runs and trainings, where the job works.
  std::string image{};   ///< The image of the pod, for Kubernetes.
  std::vector<std::string> options{}; ///< Further options of sbatch, for SLURM.
};

/// The place where a job's output is found: in a file, or printed by a program.
struct cluster_log {
  std::filesystem::path file{};
  std::vector<std::string> command{};
};

/// A scheduler that is there already, behind the verbs of our queue. It is asked by its
/// own programs, whose complaints go to standard error. Entries are objects as the queue's
/// server answers them, brief, with an "id" that is text. Calls block until the cluster
/// has answered.
class cluster {
public:
  virtual ~cluster() = default;

  /// Returns the text that would be submitted. `invalid_input`: the cluster has no equal
  /// of what is wanted.
  [[nodiscard]] virtual expected<std::string> text(const cluster_job& job) const = 0;
  /// Submits it, and returns its id.
  [[nodiscard]] virtual expected<std::string> submit(const cluster_job& job) const = 0;
  /// Returns the entries of everybody, as far as the cluster tells; `all`: those that are
  /// over too.
  [[nodiscard]] virtual expected<ordered_json> list(bool all) const = 0;
  /// `not_found`: the cluster does not know it, or not any more.
  [[nodiscard]] virtual expected<ordered_json> find(const std::string& id) const = 0;
  [[nodiscard]] virtual expected<cluster_log> log(const std::string& id,
                                                  bool follow) const = 0;
  [[nodiscard]] virtual expected<void> cancel(const std::string& id) const = 0;
  /// Returns the places where a job runs: an object for each pod or node, of "machine",
  /// "process", "state" and "reason", each null if there is none.
  [[nodiscard]] virtual expected<ordered_json> processes(const std::string& id) const = 0;
  /// An object for each machine, of "machine", "state", "device" ("cpu", "cuda"), "slots"
  /// and "used", null where the cluster does not say it.
  [[nodiscard]] virtual expected<ordered_json> machines() const = 0;
};

/// Who has how many slots of these entries: objects of "user", "slots", "running" and
/// "waiting", by name.
[[nodiscard]] ordered_json users_of_cluster(const ordered_json& entries);

/// `kind`: "slurm" or "kubernetes". `name_space`: of Kubernetes; empty: that of kubectl's
/// context. `invalid_input`: there is no such kind.
[[nodiscard]] expected<std::unique_ptr<cluster>>
open_cluster(const std::string& kind, const std::string& name_space);

/// The words of a job: its command, or those of clade for a run or a training.
[[nodiscard]] std::vector<std::string> cluster_words(const cluster_job& job);

} // namespace clade
