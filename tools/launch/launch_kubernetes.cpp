#include "tools/launch/launch_kubernetes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <vector>

// Every value of the user's is written as a JSON string, which YAML reads as the same
// string whatever it holds. In a container's command Kubernetes itself replaces $(NAME),
// and "$$" is one "$".
//
// The kubelet gives the Secret's files to root and, for a process that is not root, makes
// them readable to its group; so the worker starts with a copy in memory that is its own.

namespace clade {

namespace {

constexpr std::size_t longest_name = 52; ///< A pod's name adds "-INDEX-" and 5 letters.
constexpr std::size_t most_workers = 10'000;
constexpr std::size_t most_failures_each = 6;

constexpr const char* start_worker =
    "umask 077; cp /run/clade/secret/*.pem /run/clade/keys/; "
    "exec \"$1\" worker --connect \"$2\" --keys /run/clade/keys --slots \"$3\" "
    "--name \"$4-$JOB_COMPLETION_INDEX\"";

std::string scalar(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true,
                                   nlohmann::json::error_handler_t::replace);
}

std::string argument(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '$' ? std::string("$$") : std::string{c};
  return scalar(escaped);
}

/// What may be the name of an object: the run's, its end rather than its beginning, since
/// that tells runs of one experiment apart.
std::string object_name(const std::string& run) {
  const std::string begin = "clade-";
  std::string name;
  for (const char c : run) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool belongs = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    name += capital ? static_cast<char>(c - 'A' + 'a') : belongs ? c : '-';
  }
  const auto most = longest_name - begin.size();
  name.erase(0, name.size() > most ? name.size() - most : 0);
  name.erase(0, name.find_first_not_of('-'));
  name.erase(name.find_last_not_of('-') + 1);
  return name.empty() ? "clade" : begin + name;
}

expected<void> check_form(const std::string& option, const std::string& value,
                          const char* form, const std::string& example) {
  // A regular expression is matched by recursion.
  constexpr std::size_t longest = 512;
  if (value.size() <= longest && std::regex_match(value, std::regex(form)))
    return {};
  return fail(error_kind::invalid_input, option + " \"" + value
                                             + "\" is nothing that Kubernetes takes; "
                                               "write it as in "
                                             + option + " " + example);
}

expected<void> check(const kubernetes_job& job) {
  if (job.workers == 0 || job.workers > most_workers)
    return fail(error_kind::invalid_input,
                "--workers: from 1 to " + std::to_string(most_workers));
  if (job.cpus == 0)
    return fail(error_kind::invalid_input, "--cpus: a worker needs one at least");
  return check_form("--namespace", job.name_space, "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
                    "research")
      .and_then([&] {
        return check_form("--image", job.image, "[A-Za-z0-9][A-Za-z0-9._/:@-]{0,500}",
                          "registry.example.org/clade:1");
      })
      .and_then([&] {
        return check_form("--memory", job.memory,
                          "|[0-9]{1,12}(\\.[0-9]{1,3})?([kMGTPE]|[KMGTPE]i)?", "8Gi");
      });
}

std::string default_slots(const kubernetes_job& job) {
  if (job.gpus == 0)
    return "cpu:" + std::to_string(job.cpus);
  std::string slots;
  for (std::size_t i = 0; i < job.gpus; ++i)
    slots += (i == 0 ? "cuda:" : ",cuda:") + std::to_string(i);
  return slots;
}

std::string metadata(const kubernetes_job& job, const std::string& name) {
  return "metadata:\n  name: " + scalar(name) + "\n  namespace: " + scalar(job.name_space)
         + "\n  labels: {app.kubernetes.io/name: clade, app.kubernetes.io/instance: "
         + scalar(name) + "}\n";
}

std::string pem_block(const std::string& file, const std::string& pem) {
  std::string block = "  " + file + ": |\n    ";
  for (std::size_t i = 0; i < pem.size(); ++i)
    block += pem[i] == '\n' && i + 1 < pem.size() ? std::string("\n    ")
                                                  : std::string{pem[i]};
  return block;
}

std::string secret(const kubernetes_job& job, const std::string& name) {
  return "apiVersion: v1\nkind: Secret\n" + metadata(job, name)
         + "type: Opaque\nstringData:\n" + pem_block("ca.pem", job.keys.authority)
         + pem_block("cert.pem", job.keys.certificate)
         + pem_block("key.pem", job.keys.key);
}

std::string resources(const kubernetes_job& job) {
  std::string all = "cpu: " + scalar(std::to_string(job.cpus));
  if (!job.memory.empty())
    all += ", memory: " + scalar(job.memory);
  if (job.gpus > 0)
    all += ", nvidia.com/gpu: " + scalar(std::to_string(job.gpus));
  return "          resources:\n            requests: {" + all
         + "}\n            limits: {" + all + "}\n";
}

std::string container(const kubernetes_job& job, const std::string& name) {
  std::string command;
  for (const auto& word : std::vector<std::string>{
           "/bin/sh", "-euc", start_worker, "worker", job.program, job.connect,
           job.slots.empty() ? default_slots(job) : job.slots, name})
    command += "            - " + argument(word) + "\n";
  return "        - name: worker\n          image: " + scalar(job.image)
         + "\n          command:\n" + command
         + "          env: [{name: HOME, value: /scratch}, {name: TMPDIR, value: "
           "/scratch}]\n"
         + resources(job)
         + "          securityContext:\n"
           "            allowPrivilegeEscalation: false\n"
           "            readOnlyRootFilesystem: true\n"
           "            capabilities: {drop: [ALL]}\n"
           "          volumeMounts:\n"
           "            - {name: secret, mountPath: /run/clade/secret, readOnly: true}\n"
           "            - {name: keys, mountPath: /run/clade/keys}\n"
           "            - {name: scratch, mountPath: /scratch}\n";
}

std::string pod(const kubernetes_job& job, const std::string& name) {
  return "  template:\n    metadata:\n      labels: {app.kubernetes.io/name: clade, "
         "app.kubernetes.io/instance: "
         + scalar(name)
         + "}\n"
           "    spec:\n"
           "      restartPolicy: Never\n"
           "      terminationGracePeriodSeconds: 60\n"
           "      automountServiceAccountToken: false\n"
           "      enableServiceLinks: false\n"
           "      securityContext:\n"
           "        runAsNonRoot: true\n"
           "        runAsUser: 10001\n"
           "        runAsGroup: 10001\n"
           "        fsGroup: 10001\n"
           "        seccompProfile: {type: RuntimeDefault}\n"
           "      containers:\n"
         + container(job, name)
         + "      volumes:\n"
           "        - name: secret\n"
           "          secret: {secretName: "
         + scalar(name)
         + ", defaultMode: 256} # 0400\n"
           "        - {name: keys, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n"
           "        - {name: scratch, emptyDir: {}}\n";
}

std::string indexed_job(const kubernetes_job& job, const std::string& name) {
  const auto workers = std::to_string(job.workers);
  return "apiVersion: batch/v1\nkind: Job\n" + metadata(job, name)
         + "spec:\n  completionMode: Indexed\n  completions: " + workers
         + "\n  parallelism: " + workers
         + "\n  backoffLimit: " + std::to_string(job.workers * most_failures_each)
         + "\n  podFailurePolicy:\n    rules:\n"
           "      - action: FailJob # the run refuses it, and would refuse the next one\n"
           "        onExitCodes: {containerName: worker, operator: In, values: [2]}\n"
           "        onPodConditions: [] # versions before 1.29 want it said\n"
           "      - action: Ignore # evicted\n"
           "        onPodConditions: [{type: DisruptionTarget, status: \"True\"}]\n"
         + pod(job, name);
}

} // namespace

expected<std::string> kubernetes_manifest(const kubernetes_job& job) {
  if (auto ok = check(job); !ok)
    return tl::unexpected(ok.error());
  const auto name = object_name(job.run);
  return secret(job, name) + "---\n" + indexed_job(job, name);
}

} // namespace clade
