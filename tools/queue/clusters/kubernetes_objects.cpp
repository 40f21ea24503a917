#include "tools/queue/clusters/kubernetes_objects.hpp"

#include "engine/queue/queue_entry.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <optional>
#include <sstream>

namespace clade {

namespace {

std::string text_at(const ordered_json& j, const char* pointer) {
  const ordered_json::json_pointer at(pointer);
  return j.contains(at) && j.at(at).is_string() ? j.at(at).get<std::string>() : "";
}

std::int64_t number_at(const ordered_json& j, const char* pointer) {
  const ordered_json::json_pointer at(pointer);
  return j.contains(at) && j.at(at).is_number() ? j.at(at).get<std::int64_t>() : 0;
}

/// "2026-11-24T04:12:01Z"
ordered_json time_of(const std::string& text) {
  std::tm time{};
  std::istringstream in(text);
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  return in.fail() ? ordered_json() : ordered_json(std::int64_t{::timegm(&time)} * 1000);
}

struct job_end {
  entry_state state;
  std::string reason, at;
};

std::optional<job_end> end_of(const ordered_json& job) {
  if (!job.contains("/status/conditions"_json_pointer))
    return {};
  for (const auto& c : job.at("/status/conditions"_json_pointer)) {
    const auto type = text_at(c, "/type");
    if (text_at(c, "/status") != "True" || (type != "Complete" && type != "Failed"))
      continue;
    const bool good = type == "Complete";
    return job_end{.state = good ? entry_state::succeeded : entry_state::failed,
                   .reason = good ? "" : text_at(c, "/message"),
                   .at = text_at(c, "/lastTransitionTime")};
  }
  return {};
}

entry_state open_state_of(const ordered_json& job) {
  if (job.value("/spec/suspend"_json_pointer, false))
    return entry_state::preempted;
  return number_at(job, "/status/ready") > 0 ? entry_state::running
                                             : entry_state::waiting;
}

/// Why the containers of a pod do not run, or how they have ended: "ImagePullBackOff",
/// "ended with status 3".
std::string reason_of_pod(const ordered_json& pod) {
  for (const auto& c :
       pod.value("/status/containerStatuses"_json_pointer, ordered_json::array())) {
    if (auto why = text_at(c, "/state/waiting/reason"); !why.empty()) {
      const auto more = text_at(c, "/state/waiting/message");
      return more.empty() ? why : fmt::format("{}: {}", why, more);
    }
    if (const auto status = number_at(c, "/state/terminated/exitCode"); status != 0)
      return fmt::format("ended with status {}", status);
  }
  const auto more = text_at(pod, "/status/message");
  return more.empty() ? text_at(pod, "/status/reason") : more;
}

/// "4", "3920m"
std::uint64_t whole_number(const std::string& quantity) {
  const auto n = std::strtoull(quantity.c_str(), nullptr, 10);
  return quantity.ends_with('m') ? n / 1000 : n;
}

} // namespace

bool has_ended(const ordered_json& job) {
  return end_of(job).has_value();
}

ordered_json read_kubernetes_job(const ordered_json& job) {
  const auto end = end_of(job);
  const auto state = end ? end->state : open_state_of(job);
  const auto limits =
      job.value("/spec/template/spec/containers/0/resources/limits"_json_pointer,
                ordered_json::object());
  const auto slots =
      limits.value("nvidia.com/gpu", limits.value("cpu", std::string("1")));
  ordered_json e{{"id", text_at(job, "/metadata/name")},
                 {"user", text_at(job, "/metadata/annotations/clade~1user")},
                 {"name", some(text_at(job, "/metadata/annotations/clade~1name"))},
                 {"state", to_text(state)},
                 {"reason", some(end ? end->reason : std::string())},
                 {"slots", std::strtoull(slots.c_str(), nullptr, 10)},
                 {"submitted", time_of(text_at(job, "/metadata/creationTimestamp"))}};
  if (const auto started = text_at(job, "/status/startTime");
      !started.empty() && !is_waiting(state))
    e["started"] = time_of(started);
  if (end)
    e["ended"] = time_of(end->at);
  return e;
}

ordered_json read_kubernetes_pods(const ordered_json& answer) {
  auto all = ordered_json::array();
  for (const auto& pod : answer.value("items", ordered_json::array()))
    all.push_back({{"machine", some(text_at(pod, "/spec/nodeName"))},
                   {"process", some(text_at(pod, "/metadata/name"))},
                   {"state", some(text_at(pod, "/status/phase"))},
                   {"reason", some(reason_of_pod(pod))}});
  return all;
}

ordered_json read_kubernetes_nodes(const ordered_json& answer) {
  auto all = ordered_json::array();
  for (const auto& node : answer.value("items", ordered_json::array())) {
    std::string state = "not ready";
    for (const auto& c :
         node.value("/status/conditions"_json_pointer, ordered_json::array()))
      if (text_at(c, "/type") == "Ready" && text_at(c, "/status") == "True")
        state = "ready";
    if (node.value("/spec/unschedulable"_json_pointer, false))
      state = "takes no more";
    for (const auto& [device, key] : {std::pair{"cpu", "/status/allocatable/cpu"},
                                      {"cuda", "/status/allocatable/nvidia.com~1gpu"}})
      if (const auto slots = whole_number(text_at(node, key)); slots > 0)
        all.push_back({{"machine", text_at(node, "/metadata/name")},
                       {"state", state},
                       {"device", device},
                       {"slots", slots},
                       {"used", nullptr}}); // The sum of all pods, which few may list.
  }
  return all;
}

} // namespace clade
