#include "tools/queue/clusters/cluster.hpp"

#include "tools/queue/clusters/kubernetes_cluster.hpp"
#include "tools/queue/clusters/slurm_cluster.hpp"

#include <fmt/format.h>

#include <map>

namespace clade {

namespace {

/// A cluster numbers the devices of a job from 0.
std::string slots_of(const queue_submission& s) {
  if (s.device != "cuda")
    return fmt::format("cpu:{}", s.slots);
  std::string text;
  for (std::uint32_t i = 0; i < s.slots; ++i)
    text += fmt::format("{}{}", i == 0 ? "cuda:" : ",cuda:", i);
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

ordered_json users_of_cluster(const ordered_json& entries) {
  struct had {
    std::uint64_t slots = 0, running = 0, waiting = 0;
  };
  std::map<std::string, had> users;
  for (const auto& e : entries) {
    auto& user = users[e.value("user", std::string())];
    if (const auto state = e.value("state", std::string());
        state == to_text(entry_state::running)) {
      ++user.running;
      user.slots += e.value("slots", std::uint64_t{0});
    } else if (state == to_text(entry_state::waiting)
               || state == to_text(entry_state::preempted)) {
      ++user.waiting;
    }
  }
  auto all = ordered_json::array();
  for (const auto& [name, u] : users)
    all.push_back({{"user", name},
                   {"slots", u.slots},
                   {"running", u.running},
                   {"waiting", u.waiting}});
  return all;
}

expected<std::unique_ptr<cluster>> open_cluster(const std::string& kind,
                                                const std::string& name_space) {
  if (kind == "kubernetes")
    return open_kubernetes(name_space);
  if (kind != "slurm")
    return fail(error_kind::invalid_input,
                fmt::format("--to \"{}\": slurm or kubernetes is meant", kind));
  if (!name_space.empty())
    return fail(error_kind::invalid_input, "--namespace: SLURM has none; leave it out");
  return open_slurm();
}

} // namespace clade
