#include "tools/queue/cluster.hpp"

#include "tools/queue/kubernetes_cluster.hpp"
#include "tools/queue/slurm_cluster.hpp"

namespace clade {

namespace {

/// A cluster numbers the devices of a job from 0.
std::string slots_of(const queue_submission& s) {
  if (s.device != "cuda")
    return "cpu:" + std::to_string(s.slots);
  std::string text;
  for (std::uint32_t i = 0; i < s.slots; ++i)
    text += (i == 0 ? "cuda:" : ",cuda:") + std::to_string(i);
  return text;
}

} // namespace

std::vector<std::string> cluster_words(const cluster_job& job) {
  const auto& s = job.what;
  if (s.kind == entry_kind::command)
    return s.words;
  std::vector<std::string> words{job.program, std::string(to_text(s.kind))};
  words.insert(words.end(), s.words.begin(), s.words.end());
  words.insert(words.end(), {"--slots", slots_of(s)});
  return words;
}

expected<std::unique_ptr<cluster>> open_cluster(const std::string& kind,
                                                const std::string& name_space) {
  if (kind == "kubernetes")
    return open_kubernetes(name_space);
  if (kind != "slurm")
    return fail(error_kind::invalid_input,
                "--to \"" + kind + "\": slurm or kubernetes is meant");
  if (!name_space.empty())
    return fail(error_kind::invalid_input, "--namespace: SLURM has none; leave it out");
  return open_slurm();
}

} // namespace clade
