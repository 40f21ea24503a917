#include "tools/queue/head/queue_checks.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "tools/queue/client/queue_client.hpp"
#include "tools/queue/machine/machine_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

namespace clade {

namespace {

constexpr std::int64_t poor_clock_ms = 2000;

std::string text_at(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_at(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string ms_text(std::int64_t ms) {
  return duration_text(static_cast<double>(ms) / 1000);
}

finding judge_node(const ordered_json& m, const std::string& version) {
  const auto state = text_at(m, "state"), its = text_at(m, "version");
  const auto heard = ms_text(number_at(m, "heard_ms"));
  finding f{.about = "machine " + text_at(m, "machine"),
            .found = fmt::format(
                "{}, heard {} ago",
                counted(static_cast<std::uint64_t>(number_at(m, "slots")), "slot"),
                heard)};
  const auto ahead = number_at(m, "clock_ahead_ms");
  if (state == to_text(machine_state::lost)) {
    f.is = health::broken;
    f.found = "lost, not heard of for " + heard;
    f.advice = "what ran there waits for slots; is the machine up, and does its clade "
               "worker --queue run? It joins again by itself";
  } else if (state == to_text(machine_state::awaited)) {
    f.is = health::poor;
    f.found = fmt::format("not heard of since the server began, {} ago", heard);
    f.advice = "it is lost after the server's --lease, and what ran there begins again";
  } else if (std::abs(ahead) >= poor_clock_ms) {
    f.is = health::poor;
    f.found += fmt::format(", its clock is {}{}", ms_text(std::abs(ahead)),
                           ahead < 0 ? " behind the server's" : " ahead of the server's");
    f.advice = "times that people compare are wrong: timedatectl set-ntp true there";
  } else if (its != version) {
    f.is = health::poor;
    f.found += fmt::format(", clade {} and not {}", its, version);
    f.advice = "runs that move between machines want the same version on all";
  }
  return f;
}

} // namespace

std::vector<finding> judge_queue(const ordered_json& machine,
                                 const std::string& version) {
  std::vector<finding> all;
  const auto list = [&](const char* key) {
    return machine.value(key, ordered_json::array());
  };
  const auto slots = list("slots");
  if (const auto its = text_at(machine, "version"); its != version)
    all.push_back({"queue", health::poor,
                   fmt::format("its server is clade {}, and this is {}", its, version),
                   "take the same version on both"});
  if (slots.empty())
    all.push_back({"slots", health::broken, "the queue has none: nothing in it runs",
                   "clade serve FOLDER --slots auto, or clade worker --queue FOLDER on a "
                   "machine"});
  else
    all.push_back({"slots", health::good, fmt::format("the queue has {}", slots.size())});
  if (const auto trouble = text_at(machine, "trouble"); !trouble.empty())
    all.push_back({"disk", health::broken, trouble, "make room there"});
  for (const auto& m : list("machines"))
    all.push_back(judge_node(m, version));
  return all;
}

std::vector<finding> check_queue(const std::filesystem::path& queue,
                                 const std::string& version) {
  auto client = queue_client::open(queue, {.impatient = true});
  if (!client)
    return {{"queue", health::broken, client.error().message,
             "--queue is the folder of clade serve, or the one that a user was given"}};
  const auto start = std::chrono::steady_clock::now();
  const auto machine = client->get("/v1/machine", machine_answer);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!machine)
    return {{"queue", health::broken, machine.error().message,
             "does a firewall let the port through, and is the folder's token still in "
             "the queue's file of tokens?"}};
  std::vector<finding> all{{"queue", health::good,
                            fmt::format("{} answers, in {}", client->address(),
                                        duration_text(taken.count()))}};
  for (auto& f : judge_queue(*machine, version))
    all.push_back(std::move(f));
  return all;
}

} // namespace clade
