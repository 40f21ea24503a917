#include "tools/launch/launch_kubernetes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

// The words of Kubernetes and Kubeflow themselves on such texts are asked in
// tests/integration/launch_kubernetes_test.py.

namespace {

kubernetes_job a_job() {
  const auto pem = [](const std::string& what) {
    return "-----BEGIN " + what + "-----\nTUlJ\n-----END " + what + "-----\n";
  };
  return {.run = "digits-20260101-120000",
          .image = "registry.example.org/clade:1",
          .connect = "203.0.113.7:7411",
          .keys = {.authority = pem("A"), .certificate = pem("C"), .key = pem("K")},
          .slots = "",
          .memory = ""};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("launch kubernetes: a Secret and an Indexed Job") {
  auto job = a_job();
  job.workers = 3;
  job.gpus = 2;
  job.cpus = 8;
  job.memory = "16Gi";
  CHECK(*kubernetes_manifest(job) == R"(apiVersion: v1
kind: Secret
metadata:
  name: "clade-digits-20260101-120000"
  namespace: "default"
  labels: {app.kubernetes.io/name: clade, app.kubernetes.io/instance: "clade-digits-20260101-120000"}
type: Opaque
stringData:
  ca.pem: |
    -----BEGIN A-----
    TUlJ
    -----END A-----
  cert.pem: |
    -----BEGIN C-----
    TUlJ
    -----END C-----
  key.pem: |
    -----BEGIN K-----
    TUlJ
    -----END K-----
---
apiVersion: batch/v1
kind: Job
metadata:
  name: "clade-digits-20260101-120000"
  namespace: "default"
  labels: {app.kubernetes.io/name: clade, app.kubernetes.io/instance: "clade-digits-20260101-120000"}
spec:
  completionMode: Indexed
  completions: 3
  parallelism: 3
  backoffLimit: 18
  podFailurePolicy:
    rules:
      - action: FailJob # the run refuses it, and would refuse the next one
        onExitCodes: {containerName: worker, operator: In, values: [2]}
        onPodConditions: [] # versions before 1.29 want it said
      - action: Ignore # it was told to leave
        onExitCodes: {containerName: worker, operator: In, values: [143]}
        onPodConditions: []
      - action: Ignore # evicted
        onPodConditions: [{type: DisruptionTarget, status: "True"}]
  template:
    metadata:
      labels: {app.kubernetes.io/name: clade, app.kubernetes.io/instance: "clade-digits-20260101-120000"}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: worker
          image: "registry.example.org/clade:1"
          command:
            - "/bin/sh"
            - "-euc"
            - "umask 077; cp /run/clade/secret/*.pem /run/clade/keys/; \"$$1\" worker --connect \"$$2\" --keys /run/clade/keys --slots \"$$3\" --name \"$$4-$$JOB_COMPLETION_INDEX\" & trap \"kill $$!; wait; exit 143\" TERM; wait $$!"
            - "worker"
            - "clade"
            - "203.0.113.7:7411"
            - "cuda:0,cuda:1"
            - "clade-digits-20260101-120000"
          env: [{name: HOME, value: /scratch}, {name: TMPDIR, value: /scratch}]
          resources:
            requests: {cpu: "8", memory: "16Gi", nvidia.com/gpu: "2"}
            limits: {cpu: "8", memory: "16Gi", nvidia.com/gpu: "2"}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: secret, mountPath: /run/clade/secret, readOnly: true}
            - {name: keys, mountPath: /run/clade/keys}
            - {name: scratch, mountPath: /scratch}
      volumes:
        - name: secret
          secret: {secretName: "clade-digits-20260101-120000", defaultMode: 256} # 0400
        - {name: keys, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
        - {name: scratch, emptyDir: {}}
)");
}

TEST_CASE("launch kubernetes: a worker without GPUs has a slot for each CPU") {
  auto job = a_job();
  job.cpus = 6;
  const auto text = *kubernetes_manifest(job);
  CHECK(says(text, "            - \"cpu:6\"\n"));
  CHECK(says(text, "limits: {cpu: \"6\"}\n"));
  CHECK_FALSE(says(text, "nvidia.com"));
}

TEST_CASE("launch kubernetes: an object of Kubeflow's has workers in all its roles") {
  const auto outline = [](const char* kind, std::size_t workers, std::size_t servers) {
    auto job = a_job();
    job.kind = kind;
    job.workers = workers;
    job.servers = servers;
    const auto text = *kubernetes_manifest(job);
    std::string lines;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      const auto line = text.substr(begin, end - begin);
      const auto word = line.substr(std::min(line.find_first_not_of(' '), line.size()));
      for (const char* shown : {"kind:", "Master:", "Chief:", "Worker:", "PS:",
                                "replicas:", "- name:", "trainer:"})
        if (word.starts_with(shown) && word != "- name: secret")
          lines += word + '\n';
    }
    return lines;
  };
  CHECK(outline("job", 3, 0) == "kind: Secret\nkind: Job\n- name: worker\n");
  CHECK(outline("pytorchjob", 1, 0)
        == "kind: Secret\nkind: PyTorchJob\nMaster:\nreplicas: 1\n- name: pytorch\n");
  CHECK(outline("pytorchjob", 3, 0)
        == "kind: Secret\nkind: PyTorchJob\nMaster:\nreplicas: 1\n- name: pytorch\n"
           "Worker:\nreplicas: 2\n- name: pytorch\n");
  CHECK(outline("tfjob", 3, 2)
        == "kind: Secret\nkind: TFJob\nChief:\nreplicas: 1\n- name: tensorflow\n"
           "Worker:\nreplicas: 2\n- name: tensorflow\n"
           "PS:\nreplicas: 2\n- name: tensorflow\n");
  CHECK(outline("trainjob", 3, 0)
        == "kind: Secret\nkind: TrainingRuntime\n- name: node\n- name: node\n"
           "kind: TrainJob\ntrainer: {numNodes: 3}\n");
}

TEST_CASE("launch kubernetes: a run's name becomes one that an object may have") {
  const auto name_of = [](const std::string& run, const char* kind = "job") {
    auto job = a_job();
    job.run = run;
    job.kind = kind;
    const auto text = *kubernetes_manifest(job);
    const auto begin = text.find("name: \"") + 7;
    return text.substr(begin, text.find('"', begin) - begin);
  };
  CHECK(name_of("My Digits_2") == "clade-my-digits-2");
  CHECK(name_of("-x-") == "clade-x");
  CHECK(name_of("\xc3\xa9") == "clade");
  CHECK(name_of("a\"\nkind: Pod") == "clade-a--kind--pod");
  const auto long_run = std::string(100, 'a') + "-20260101-120000";
  CHECK(name_of(long_run).ends_with("aaa-20260101-120000"));
  // The longest name of a pod has 63 letters.
  CHECK(name_of(long_run).size() + std::string("-9999-abcde").size() == 63);
  for (const char* kind : {"pytorchjob", "tfjob"})
    CHECK(name_of(long_run, kind).size() + std::string("-worker-9999").size() == 63);
  CHECK(name_of(long_run, "trainjob").size() + std::string("-node-0-9999-abcde").size()
        == 63);
}

TEST_CASE("launch kubernetes: values stay strings of YAML and words of the command") {
  auto job = a_job();
  job.program = "/opt/$(HOME)/clade\"\n- x: &a \xe2\x80\xa8\xff";
  job.slots = "$x # no";
  const auto text = *kubernetes_manifest(job);
  CHECK(
      says(text, "            - \"/opt/$$(HOME)/clade\\\"\\n- x: &a \\u2028\\ufffd\"\n"));
  CHECK(says(text, "            - \"$$x # no\"\n"));
}

TEST_CASE("launch kubernetes: what it would refuse is refused here") {
  const auto refusal = [](auto change) {
    auto job = a_job();
    change(job);
    const auto text = kubernetes_manifest(job);
    REQUIRE_FALSE(text);
    CHECK(text.error().kind == error_kind::invalid_input);
    return text.error().message;
  };
  CHECK(refusal([](auto& j) { j.workers = 0; }) == "--workers: from 1 to 10000");
  CHECK(refusal([](auto& j) { j.workers = 10'001; }) == "--workers: from 1 to 10000");
  CHECK(refusal([](auto& j) { j.kind = "deployment"; })
        == "--as \"deployment\": job, pytorchjob, tfjob or trainjob is meant");
  CHECK(refusal([](auto& j) { j.servers = 1; })
        == "--servers: only a tfjob has them; leave it out of a job");
  CHECK(refusal([](auto& j) { j.kind = "tfjob", j.servers = 10'001; })
        == "--servers: at most 10000");
  CHECK(refusal([](auto& j) { j.cpus = 0; }) == "--cpus: a worker needs one at least");
  CHECK(refusal([](auto& j) { j.name_space = "Research"; })
        == "--namespace \"Research\" is nothing that Kubernetes takes; write it as in "
           "--namespace research");
  for (const char* wrong : {"", "-x", "a b", "a\nb", "$(x)"})
    CHECK(refusal([&](auto& j) { j.image = wrong; }).starts_with("--image \""));
  for (const char* wrong : {"8GiB", "lots", "-1", "8 Gi", "8Gi\n"})
    CHECK(refusal([&](auto& j) { j.memory = wrong; }).starts_with("--memory \""));
}
