#include "tools/launch/launch_kubernetes.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

// Every value of the user's is written as a JSON string, which YAML reads as the same
// string whatever it holds. In a container's command Kubernetes itself replaces $(NAME),
// and "$$" is one "$".
//
// The kubelet gives the Secret's files to root and, for a process that is not root, makes
// them readable to its group; so the worker starts with a copy in memory that is its own.
//
// A worker that is told to leave drains and exits with 0, as at the end of its run. Its pod
// exits with 143 then: with 0 its part of the job would be complete and no other pod would
// take its place, though the run goes on, and that of a Master would end the whole job.

namespace clade {

namespace {

struct manifest;

/// An object that workers can be: a row of `kinds`.
struct object_kind {
  const char* name;
  const char* container; ///< The one that its controller looks for.
  /// The longest ending of the names of its pods, after its own.
  const char* longest_ending;
  bool indexed; ///< Its pods are those of an Indexed Job.
  std::string (*text)(const manifest& m);
};

struct manifest {
  const kubernetes_job& job;
  const object_kind& kind;
  std::string name;
};

constexpr std::size_t longest_pod_name = 63;
constexpr std::size_t most_workers = 10'000;
constexpr std::size_t most_failures_each = 6;

constexpr const char* take_keys = " /run/clade/secret/*.pem /run/clade/keys/; ";
constexpr const char* worker = "\"$1\" worker --connect \"$2\" --keys /run/clade/keys "
                               "--slots \"$3\" --name ";
constexpr const char* until_told_to_leave =
    " & trap \"kill $!; wait; exit 143\" TERM; wait $!";

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

/// Returns a text that may be the name of an object: the run's, its end rather than its
/// beginning, since that tells runs of one experiment apart.
std::string object_name(const std::string& run, const object_kind& kind) {
  const std::string begin = "clade-";
  std::string name;
  for (const char c : run) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool belongs = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    name += capital ? static_cast<char>(c - 'A' + 'a') : belongs ? c : '-';
  }
  const auto most =
      longest_pod_name - std::string(kind.longest_ending).size() - begin.size();
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
  return fail(
      error_kind::invalid_input,
      fmt::format("{} \"{}\" is nothing that Kubernetes takes; write it as in {} {}",
                  option, value, option, example));
}

expected<void> check_counts(const kubernetes_job& job) {
  const auto most = std::to_string(most_workers);
  if (job.workers == 0 || job.workers > most_workers)
    return fail(error_kind::invalid_input, "--workers: from 1 to " + most);
  if (job.servers > 0 && job.kind != "tfjob")
    return fail(error_kind::invalid_input,
                "--servers: only a tfjob has them; leave it out of a " + job.kind);
  if (job.servers > most_workers)
    return fail(error_kind::invalid_input, "--servers: at most " + most);
  if (job.cpus == 0)
    return fail(error_kind::invalid_input, "--cpus: a worker needs one at least");
  return {};
}

expected<void> check(const kubernetes_job& job) {
  if (auto ok = check_counts(job); !ok)
    return ok;
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
    return fmt::format("cpu:{}", job.cpus);
  std::string slots;
  for (std::size_t i = 0; i < job.gpus; ++i)
    slots += fmt::format("{}{}", i == 0 ? "cuda:" : ",cuda:", i);
  return slots;
}

// The labels that all kinds share

std::string labels(const manifest& m) {
  return fmt::format(
      "labels: {{app.kubernetes.io/name: clade, app.kubernetes.io/instance: {}}}\n",
      scalar(m.name));
}

std::string head(const std::string& version, const std::string& object,
                 const manifest& m) {
  return fmt::format(
      "apiVersion: {}\nkind: {}\nmetadata:\n  name: {}\n  namespace: {}\n  {}", version,
      object, scalar(m.name), scalar(m.job.name_space), labels(m));
}

std::string pem_block(const std::string& file, const std::string& pem) {
  return fmt::format("  {}: |\n{}", file, indented(pem, 4));
}

std::string secret(const manifest& m) {
  return fmt::format("{}type: Opaque\nstringData:\n{}{}{}", head("v1", "Secret", m),
                     pem_block("ca.pem", m.job.keys.authority),
                     pem_block("cert.pem", m.job.keys.certificate),
                     pem_block("key.pem", m.job.keys.key));
}

std::string resources(const kubernetes_job& job) {
  std::string all = "cpu: " + scalar(std::to_string(job.cpus));
  if (!job.memory.empty())
    all += ", memory: " + scalar(job.memory);
  if (job.gpus > 0)
    all += ", nvidia.com/gpu: " + scalar(std::to_string(job.gpus));
  return fmt::format(
      "          resources:\n            requests: {{{}}}\n            limits: {{{}}}\n",
      all, all);
}

std::string script(const object_kind& kind) {
  const std::string work =
      worker
      + std::string(kind.indexed ? "\"$4-$JOB_COMPLETION_INDEX\"" : "\"$POD_NAME\"");
  // A container that is restarted in its pod finds its copy, which even it may not write.
  return std::string("umask 077; cp") + (kind.indexed ? "" : " -f") + take_keys + work
         + until_told_to_leave;
}

std::string container(const manifest& m) {
  std::string command;
  for (const auto& word : std::vector<std::string>{
           "/bin/sh", "-euc", script(m.kind), "worker", m.job.program, m.job.connect,
           m.job.slots.empty() ? default_slots(m.job) : m.job.slots, m.name})
    command += fmt::format("            - {}\n", argument(word));
  const std::string pod_name =
      ", {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}";
  return fmt::format(
      "        - name: {}\n          image: {}\n          command:\n{}          env: "
      "[{{name: HOME, value: /scratch}}, {{name: TMPDIR, value: /scratch}}{}]\n{}        "
      "  securityContext:\n            allowPrivilegeEscalation: false\n            "
      "readOnlyRootFilesystem: true\n            capabilities: {{drop: [ALL]}}\n         "
      " volumeMounts:\n            - {{name: secret, mountPath: /run/clade/secret, "
      "readOnly: true}}\n            - {{name: keys, mountPath: /run/clade/keys}}\n      "
      "      - {{name: scratch, mountPath: /scratch}}\n",
      m.kind.container, scalar(m.job.image), command, m.kind.indexed ? "" : pod_name,
      resources(m.job));
}

std::string pod(const manifest& m) {
  return fmt::format(
      "  template:\n    metadata:\n      {}    spec:\n{}      "
      "terminationGracePeriodSeconds: 60\n      automountServiceAccountToken: false\n    "
      "  enableServiceLinks: false\n      securityContext:\n        runAsNonRoot: true\n "
      "       runAsUser: 10001\n        runAsGroup: 10001\n        fsGroup: 10001\n      "
      "  seccompProfile: {{type: RuntimeDefault}}\n      containers:\n{}      volumes:\n "
      "       - name: secret\n          secret: {{secretName: {}, defaultMode: 256}} # "
      "0400\n        - {{name: keys, emptyDir: {{medium: Memory, sizeLimit: 1Mi}}}}\n    "
      "    - {{name: scratch, emptyDir: {{}}}}\n",
      labels(m), m.kind.indexed ? "      restartPolicy: Never\n" : "", container(m),
      scalar(m.name));
}

// The kinds

std::string backoff_limit(const manifest& m) {
  const auto pods = m.job.workers + m.job.servers;
  return fmt::format("  backoffLimit: {}\n", pods * most_failures_each);
}

std::string indexed_job(const manifest& m) {
  const auto workers = std::to_string(m.job.workers);
  return fmt::format(
      "spec:\n  completionMode: Indexed\n  completions: {}\n  parallelism: {}\n{}  "
      "podFailurePolicy:\n    rules:\n      - action: FailJob # the run refuses it, and "
      "would refuse the next one\n        onExitCodes: {{containerName: {}, operator: "
      "In, values: [2]}}\n        onPodConditions: [] # versions before 1.29 want it "
      "said\n      - action: Ignore # it was told to leave\n        onExitCodes: "
      "{{containerName: {}, operator: In, values: [143]}}\n        onPodConditions: []\n "
      "     - action: Ignore # evicted\n        onPodConditions: [{{type: "
      "DisruptionTarget, status: \"True\"}}]\n{}",
      workers, workers, backoff_limit(m), m.kind.container, m.kind.container, pod(m));
}

std::string plain_job(const manifest& m) {
  return head("batch/v1", "Job", m) + indexed_job(m);
}

std::string train_job(const manifest& m) {
  const std::string version = "trainer.kubeflow.org/v1alpha1";
  const auto nodes = fmt::format("{{numNodes: {}}}\n", m.job.workers);
  return fmt::format(
      "{}spec: # of its own, as Kubeflow's runtimes have no volume for the keys\n  "
      "mlPolicy: {}  template:\n    spec:\n      replicatedJobs:\n        - name: node\n "
      "         template:\n            metadata:\n              labels: "
      "{{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}\n{}---\n{}spec: # a node "
      "is a worker of Clade; the run chooses which train together\n  runtimeRef: "
      "{{apiGroup: trainer.kubeflow.org, kind: TrainingRuntime, name: {}}}\n  trainer: "
      "{}",
      head(version, "TrainingRuntime", m), nodes, indented(indexed_job(m), 12),
      head(version, "TrainJob", m), scalar(m.name), nodes);
}

/// So many pods in a role, if any.
std::string replicas(const manifest& m, const std::string& role, std::size_t pods) {
  if (pods == 0)
    return "";
  return fmt::format("    {}:\n      replicas: {}\n      restartPolicy: OnFailure\n{}",
                     role, pods, indented(pod(m), 4));
}

/// Roles with a first one, whose end is that of all.
std::string roles(const manifest& m, const std::string& first) {
  return replicas(m, first, 1) + replicas(m, "Worker", m.job.workers - 1)
         + replicas(m, "PS", m.job.servers);
}

std::string run_policy(const manifest& m, const std::string& first) {
  return fmt::format("spec:\n  # Whatever its role, each pod is a worker of Clade: the "
                     "run chooses which\n  # train together. The job is complete when "
                     "its {} is, at the end of the run;\n  # pods that run on are ended "
                     "then.\n  runPolicy:\n    cleanPodPolicy: Running\n{}",
                     first, indented(backoff_limit(m), 2));
}

std::string pytorch_job(const manifest& m) {
  return fmt::format("{}{}  pytorchReplicaSpecs:\n{}",
                     head("kubeflow.org/v1", "PyTorchJob", m), run_policy(m, "Master"),
                     roles(m, "Master"));
}

std::string tf_job(const manifest& m) {
  return fmt::format("{}{}  enableDynamicWorker: true # a Worker that is lost does not "
                     "fail the job\n  tfReplicaSpecs:\n{}",
                     head("kubeflow.org/v1", "TFJob", m), run_policy(m, "Chief"),
                     roles(m, "Chief"));
}

constexpr std::array kinds = {
    object_kind{"job", "worker", "-9999-abcde", true, plain_job},
    object_kind{"pytorchjob", "pytorch", "-worker-9999", false, pytorch_job},
    object_kind{"tfjob", "tensorflow", "-worker-9999", false, tf_job},
    object_kind{"trainjob", "node", "-node-0-9999-abcde", true, train_job},
};

expected<object_kind> find_kind(const std::string& name) {
  const auto* found =
      std::ranges::find_if(kinds, [&](const object_kind& k) { return k.name == name; });
  if (found == kinds.end())
    return fail(error_kind::invalid_input,
                fmt::format("--as \"{}\": {} is meant", name, kubernetes_kinds()));
  return *found;
}

} // namespace

std::string kubernetes_kinds() {
  std::string all;
  for (const auto& kind : kinds)
    all += (&kind == &kinds.front()  ? ""
            : &kind == &kinds.back() ? " or "
                                     : ", ")
           + std::string(kind.name);
  return all;
}

expected<std::string> kubernetes_manifest(const kubernetes_job& job) {
  const auto kind = find_kind(job.kind);
  if (!kind)
    return tl::unexpected(kind.error());
  if (auto ok = check(job); !ok)
    return tl::unexpected(ok.error());
  const manifest m{.job = job, .kind = *kind, .name = object_name(job.run, *kind)};
  return fmt::format("{}---\n{}", secret(m), kind->text(m));
}

} // namespace clade
