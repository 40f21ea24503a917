#include "tools/queue/clusters/kubernetes_cluster.hpp"
#include "tools/queue/clusters/kubernetes_objects.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

cluster_job a_job() {
  return {
      .what = {.user = "ann", .words = {"/bin/Train_It", "$(HOME)"}, .directory = "/"},
      .program = "clade",
      .image = "example.org/train:1"};
}

ordered_json manifest_of(const cluster_job& job) {
  const auto text = kubernetes_entry_manifest(job);
  REQUIRE(text);
  return ordered_json::parse(*text);
}

} // namespace

TEST_CASE("Kubernetes: an entry is a Job with one pod") {
  const auto m = manifest_of(a_job());
  CHECK(m["metadata"]["generateName"] == "clade-train-it-");
  CHECK(m["spec"]["backoffLimit"] == 0);
  CHECK_FALSE(m["spec"].contains("activeDeadlineSeconds"));
  const auto& container = m["spec"]["template"]["spec"]["containers"].at(0);
  CHECK(container["command"] == ordered_json{"/bin/Train_It", "$$(HOME)"});
  CHECK(container["resources"]["limits"] == ordered_json{{"cpu", "1"}});
}

TEST_CASE("Kubernetes: slots and time are those of the pod") {
  auto job = a_job();
  job.what.slots = 2;
  job.what.device = "cuda";
  job.what.time = std::chrono::seconds(90);
  job.what.kind = entry_kind::train;
  job.what.name = std::string(60, 'x');
  const auto m = manifest_of(job);
  CHECK(m["metadata"]["generateName"] == "clade-" + std::string(40, 'x') + "-");
  CHECK(m["spec"]["activeDeadlineSeconds"] == 90);
  const auto& container = m["spec"]["template"]["spec"]["containers"].at(0);
  CHECK(container["resources"]["limits"] == ordered_json{{"nvidia.com/gpu", "2"}});
  CHECK(container["command"]
        == ordered_json{"clade", "train", "/bin/Train_It", "$$(HOME)", "--slots",
                        "cuda:0,cuda:1"});
}

TEST_CASE("Kubernetes: what it has no equal of is refused in a sentence") {
  const auto refusal = [](auto change) {
    auto job = a_job();
    change(job);
    const auto text = kubernetes_entry_manifest(job);
    REQUIRE_FALSE(text);
    CHECK(text.error().kind == error_kind::invalid_input);
    return text.error().message;
  };
  CHECK_THAT(refusal([](cluster_job& j) { j.image.clear(); }),
             Catch::StartsWith("--image: "));
  CHECK_THAT(refusal([](cluster_job& j) { j.what.priority = 1; }),
             Catch::StartsWith("--priority: "));
  CHECK_THAT(refusal([](cluster_job& j) { j.what.after = {1}; }),
             Catch::StartsWith("--after: "));
  CHECK_THAT(refusal([](cluster_job& j) { j.options = {"partition=gpu"}; }),
             Catch::StartsWith("--sbatch "));
  CHECK_THAT(refusal([](cluster_job& j) { j.what.ranks = 1; }),
             Catch::StartsWith("--ranks: "));
}

TEST_CASE("Kubernetes: a Job's state is that of an entry") {
  const auto state_of = [](const char* status) {
    auto job = manifest_of(a_job());
    job["metadata"]["name"] = "clade-train-it-abcde";
    job["metadata"]["creationTimestamp"] = "2026-01-31T14:05:00Z";
    job["status"] = ordered_json::parse(status);
    return text_of(read_kubernetes_job(job));
  };
  const std::string known =
      R"({"id":"clade-train-it-abcde","user":"ann","name":"Train_It","state":)";
  const std::string submitted = R"("slots":1,"submitted":1769868300000)";
  CHECK(state_of("{}") == known + R"("waiting","reason":null,)" + submitted + "}");
  CHECK(state_of(R"({"startTime": "2026-01-31T14:05:01Z", "active": 1, "ready": 1})")
        == known + R"("running","reason":null,)" + submitted
               + R"(,"started":1769868301000})");
  CHECK(state_of(
            R"({"startTime": "2026-01-31T14:05:01Z", "conditions": [{"type": "Complete",
                     "status": "True", "lastTransitionTime": "2026-01-31T14:06:01Z"}]})")
        == known + R"("succeeded","reason":null,)" + submitted
               + R"(,"started":1769868301000,"ended":1769868361000})");
  CHECK(
      state_of(R"({"startTime": "2026-01-31T14:05:01Z", "conditions": [{"type": "Failed",
                     "status": "True", "message": "it is too late",
                     "lastTransitionTime": "2026-01-31T14:06:01Z"}]})")
      == known + R"("failed","reason":"it is too late",)" + submitted
             + R"(,"started":1769868301000,"ended":1769868361000})");
}

TEST_CASE("Kubernetes: pods say where they are, and why they do not run") {
  const auto answer = ordered_json::parse(R"({"items": [
    {"metadata": {"name": "a-1"}, "spec": {"nodeName": "rome"}, "status": {"phase": "Running",
     "containerStatuses": [{"state": {"running": {}}}]}},
    {"metadata": {"name": "a-2"}, "spec": {"nodeName": "bonn"}, "status": {"phase": "Pending",
     "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}]}},
    {"metadata": {"name": "a-3"}, "spec": {"nodeName": "bonn"}, "status": {"phase": "Failed",
     "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}},
    {"metadata": {"name": "a-4"}, "status": {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}},
    {}]})");
  std::string said;
  for (const auto& pod : read_kubernetes_pods(answer))
    said += text_of(pod) + "\n";
  CHECK(said == R"({"machine":"rome","process":"a-1","state":"Running","reason":null}
{"machine":"bonn","process":"a-2","state":"Pending","reason":"ErrImagePull: not found"}
{"machine":"bonn","process":"a-3","state":"Failed","reason":"ended with status 3"}
{"machine":null,"process":"a-4","state":"Failed","reason":"the node was low on memory"}
{"machine":null,"process":null,"state":null,"reason":null}
)");
}

TEST_CASE("Kubernetes: nodes have a line for each kind of device") {
  const auto answer = ordered_json::parse(R"({"items": [
    {"metadata": {"name": "rome"}, "status": {"allocatable": {"cpu": "8", "nvidia.com/gpu": "4"},
     "conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}},
    {"metadata": {"name": "bonn"}, "spec": {"unschedulable": true}, "status": {"allocatable": {"cpu": "3920m"},
     "conditions": [{"type": "Ready", "status": "True"}]}},
    {"metadata": {"name": "oslo"}, "status": {"allocatable": {"cpu": "2"}}}]})");
  std::string said;
  for (const auto& node : read_kubernetes_nodes(answer))
    said += text_of(node) + "\n";
  CHECK(said == R"({"machine":"rome","state":"ready","device":"cpu","slots":8,"used":null}
{"machine":"rome","state":"ready","device":"cuda","slots":4,"used":null}
{"machine":"bonn","state":"takes no more","device":"cpu","slots":3,"used":null}
{"machine":"oslo","state":"not ready","device":"cpu","slots":2,"used":null}
)");
}

TEST_CASE("clusters: users have the slots of what runs") {
  const auto entry = [](const char* user, const char* state, int slots) {
    return ordered_json{{"user", user}, {"state", state}, {"slots", slots}};
  };
  CHECK(text_of(users_of_cluster({entry("bob", "running", 2), entry("ann", "waiting", 8),
                                  entry("bob", "preempted", 1),
                                  entry("bob", "running", 1), entry("ann", "held", 1)}))
        == R"([{"user":"ann","slots":0,"running":0,"waiting":1},)"
           R"({"user":"bob","slots":3,"running":2,"waiting":1}])");
}
