#include "tools/queue/clusters/kubernetes_cluster.hpp"

#include "genome/base/json_depth.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/queue/clusters/kubernetes_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// The length of the names that Kubernetes ends with a dash and five letters, twice.
constexpr std::size_t longest_name = 40;
/// The tries of an entry that is to be begun again; Kubernetes' own default.
constexpr int most_tries = 6;
constexpr const char* selector =
    "app.kubernetes.io/name=clade,app.kubernetes.io/component=entry";

tl::unexpected<error> refuse(const std::string& why) {
  return fail(error_kind::invalid_input, why);
}

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/// Returns the beginning of a name: "clade-train-".
std::string name_of(const std::string& text) {
  std::string name;
  for (char c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    name += may_be_in_name(c) ? c : '-';
  }
  name = name.substr(0, longest_name);
  name.erase(0, name.find_first_not_of('-'));
  name.erase(name.find_last_not_of('-') + 1);
  return fmt::format("clade-{}{}", name, name.empty() ? "" : "-");
}

/// In a command Kubernetes itself replaces $(NAME), and "$$" is one "$".
std::string argument(const std::string& word) {
  std::string escaped;
  for (const char c : word)
    escaped += c == '$' ? std::string("$$") : std::string{c};
  return escaped;
}

expected<void> check(const cluster_job& job) {
  const auto& s = job.what;
  if (job.image.empty())
    return refuse("--image: Kubernetes starts images; name one that has the program");
  if (s.priority != 0)
    return refuse("--priority: Kubernetes has classes of priority and no numbers; leave "
                  "it out");
  if (!s.after.empty())
    return refuse("--after: a Job of Kubernetes waits for no other; submit it when that "
                  "has succeeded");
  if (s.ranks)
    return refuse(
        "--ranks: pods of a Job do not find each other; clade launch kubernetes "
        "--as pytorchjob starts what does");
  if (!job.options.empty())
    return refuse("--sbatch is for --to slurm");
  if (s.requeue && s.kind != entry_kind::command)
    return refuse("--requeue: Kubernetes would begin another run; it is for commands");
  if (s.slots == 0)
    return refuse("--slots: there must be one at least");
  return {};
}

ordered_json container_of(const cluster_job& job) {
  auto command = ordered_json::array();
  for (const auto& word : cluster_words(job))
    command.push_back(argument(word));
  const ordered_json resources{{job.what.device == "cuda" ? "nvidia.com/gpu" : "cpu",
                                std::to_string(job.what.slots)}};
  return {{"name", "entry"},
          {"image", job.image},
          {"command", command},
          {"resources", {{"requests", resources}, {"limits", resources}}},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"capabilities", {{"drop", ordered_json::array({"ALL"})}}}}}};
}

class kubernetes_cluster final : public cluster {
public:
  explicit kubernetes_cluster(std::string name_space)
      : name_space_(std::move(name_space)) {}

  expected<std::string> text(const cluster_job& job) const override {
    return kubernetes_entry_manifest(job);
  }
  expected<std::string> submit(const cluster_job& job) const override;
  expected<ordered_json> list(bool all) const override;
  expected<ordered_json> find(const std::string& id) const override;
  expected<cluster_log> log(const std::string& id, bool follow) const override;
  expected<void> cancel(const std::string& id) const override;
  expected<ordered_json> processes(const std::string& id) const override;
  expected<ordered_json> machines() const override;

private:
  [[nodiscard]] std::vector<std::string> kubectl(std::vector<std::string> words) const;
  [[nodiscard]] expected<std::string> ask(std::vector<std::string> words,
                                          const std::string& input = "") const;
  [[nodiscard]] expected<ordered_json> ask_json(std::vector<std::string> words) const;

  std::string name_space_;
};

expected<void> check_id(const std::string& id) {
  if (!id.empty() && id.front() != '-'
      && std::ranges::all_of(id, [](char c) { return may_be_in_name(c) || c == '.'; }))
    return {};
  return refuse(fmt::format("\"{}\" is no name of a Job of Kubernetes", id));
}

std::vector<std::string>
kubernetes_cluster::kubectl(std::vector<std::string> words) const {
  words.insert(words.begin(), "kubectl");
  if (!name_space_.empty())
    words.insert(words.begin() + 1, "--namespace=" + name_space_);
  return words;
}

expected<std::string> kubernetes_cluster::ask(std::vector<std::string> words,
                                              const std::string& input) const {
  const auto verb = words.front();
  const auto done = run_outside({.command = kubectl(std::move(words)), .input = input});
  if (!done)
    return tl::unexpected(done.error());
  if (done->status != 0)
    return fail(error_kind::refused,
                fmt::format("kubectl {} ended with status {}", verb, done->status));
  return done->output;
}

expected<ordered_json>
kubernetes_cluster::ask_json(std::vector<std::string> words) const {
  words.insert(words.end(), {"--output", "json"});
  return ask(std::move(words))
      .and_then([](const std::string& text) -> expected<ordered_json> {
        auto parsed = parse_shallow<ordered_json>(text);
        if (!parsed.is_object())
          return fail(error_kind::io, "kubectl printed no JSON");
        return parsed;
      });
}

expected<std::string> kubernetes_cluster::submit(const cluster_job& job) const {
  const auto manifest = kubernetes_entry_manifest(job);
  if (!manifest)
    return tl::unexpected(manifest.error());
  // It is not applied, as only what is created can be named by Kubernetes.
  return ask({"create", "--filename", "-", "--output", "name"}, *manifest)
      .and_then([](std::string said) -> expected<std::string> {
        said.erase(said.find_last_not_of('\n') + 1);
        const auto slash = said.rfind('/'); // "job.batch/clade-train-x7k2p"
        auto name = said.substr(slash == std::string::npos ? 0 : slash + 1);
        if (auto ok = check_id(name); !ok)
          return fail(error_kind::io, "kubectl did not name the Job; it said: " + said);
        return name;
      });
}

expected<ordered_json> kubernetes_cluster::list(bool all) const {
  return ask_json({"get", "jobs", "--selector", selector})
      .map([&](const ordered_json& answer) {
        auto entries = ordered_json::array();
        for (const auto& job : answer.value("items", ordered_json::array()))
          if (all || !has_ended(job))
            entries.push_back(read_kubernetes_job(job));
        return entries;
      });
}

expected<ordered_json> kubernetes_cluster::find(const std::string& id) const {
  return check_id(id)
      .and_then([&] {
        return ask_json({"get", "job", id});
      })
      .map(read_kubernetes_job);
}

expected<cluster_log> kubernetes_cluster::log(const std::string& id, bool follow) const {
  return check_id(id).map([&] {
    std::vector<std::string> words{"logs", "job/" + id};
    if (follow)
      words.emplace_back("--follow");
    return cluster_log{.command = kubectl(std::move(words))};
  });
}

expected<void> kubernetes_cluster::cancel(const std::string& id) const {
  return check_id(id)
      .and_then([&] {
        return ask({"delete", "job", id, "--wait=false"});
      })
      .map([](const std::string&) {});
}

expected<ordered_json> kubernetes_cluster::processes(const std::string& id) const {
  return check_id(id)
      .and_then([&] {
        return ask_json({"get", "pods", "--selector", "job-name=" + id});
      })
      .map(read_kubernetes_pods);
}

expected<ordered_json> kubernetes_cluster::machines() const {
  return ask_json({"get", "nodes"}).map(read_kubernetes_nodes);
}

} // namespace

std::unique_ptr<cluster> open_kubernetes(std::string name_space) {
  return std::make_unique<kubernetes_cluster>(std::move(name_space));
}

expected<std::string> kubernetes_entry_manifest(const cluster_job& job) {
  if (auto ok = check(job); !ok)
    return tl::unexpected(ok.error());
  const auto& s = job.what;
  const auto words = cluster_words(job);
  const auto title =
      s.name.empty() ? words.front().substr(words.front().rfind('/') + 1) : s.name;
  const ordered_json labels{{"app.kubernetes.io/name", "clade"},
                            {"app.kubernetes.io/component", "entry"}};
  ordered_json spec{{"backoffLimit", s.requeue ? most_tries : 0}};
  if (s.time.count() > 0)
    spec["activeDeadlineSeconds"] = s.time.count();
  spec["template"] = {
      {"metadata", {{"labels", labels}}},
      {"spec",
       {{"restartPolicy", "Never"},
        {"automountServiceAccountToken", false},
        {"enableServiceLinks", false},
        {"securityContext", {{"seccompProfile", {{"type", "RuntimeDefault"}}}}},
        {"containers", ordered_json::array({container_of(job)})}}}};
  const ordered_json manifest{
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata",
       {{"generateName", name_of(title)},
        {"labels", labels},
        {"annotations", {{"clade/user", s.user}, {"clade/name", title}}}}},
      {"spec", spec}};
  return manifest.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace clade
