#include "tools/doctor/fleet_checks.hpp"

#include "actors/transport/link/knock.hpp"
#include "engine/report/base/format.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "tools/run/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace clade {

namespace {

// Keys are valid from a day before they are made (actors/transport/tls/keys.cpp).
constexpr std::chrono::seconds poor_clock{2};
constexpr std::chrono::hours broken_clock{24};
constexpr std::chrono::seconds long_silence{10};

finding check_head(const endpoint& where, const key_files& keys) {
  const std::string about = "head " + to_text(where);
  const auto start = std::chrono::steady_clock::now();
  const auto open = knock(where, keys, CLADE_VERSION);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (open)
    return {about, health::good,
            "takes these keys and this version, in " + duration_text(taken.count())};
  const bool absent = open.error().kind == error_kind::refused;
  return {about, health::broken, open.error().message,
          absent
              ? "is the run live with --listen there, and does a firewall let the port "
                "through?"
              : "take the bundle of this run and the head's version of clade"};
}

std::string clock_text(std::chrono::milliseconds ahead) {
  const double seconds = std::chrono::duration<double>(ahead).count();
  return fmt::format("{}{} the head's", duration_text(seconds < 0 ? -seconds : seconds),
                     seconds < 0 ? " behind" : " ahead of");
}

finding judge(const slot_view& s) {
  finding f{.about = "worker " + s.name,
            .found = fmt::format(
                "{}heard {} ago", s.label.empty() ? "" : s.label + ", ",
                duration_text(std::chrono::duration<double>(s.heard).count()))};
  const auto apart =
      s.clock_ahead < s.clock_ahead.zero() ? -s.clock_ahead : s.clock_ahead;
  if (apart >= poor_clock)
    f.found += ", its clock is " + clock_text(s.clock_ahead);
  if (s.away || s.heard > long_silence) {
    f.is = health::broken;
    f.advice =
        "its connection is gone: look at the worker's log and the network; what it "
        "trains is handed out again when its lease ends";
  } else if (s.quarantined.count() > 0) {
    f.is = health::poor;
    f.found += ", in quarantine";
    f.advice = "trainings failed there that did well elsewhere: clade workers says which";
  } else if (apart >= poor_clock) {
    f.is = apart >= broken_clock ? health::broken : health::poor;
    f.advice = "keys and records go by clocks: timedatectl set-ntp true on that machine";
  } else if (!s.ready) {
    f.found += ", still prepares";
  }
  return f;
}

} // namespace

finding check_keys(const std::filesystem::path& bundle) {
  const auto keys = find_keys(bundle);
  if (!keys)
    return {"keys", health::broken, keys.error().message,
            "clade keys worker AUTHORITY NAME makes a bundle"};
  return {"keys", health::good, bundle.string() + ": whole, private and valid"};
}

std::vector<finding> check_heads(const std::string& places,
                                 const std::filesystem::path& bundle) {
  std::vector<finding> all{check_keys(bundle)};
  const auto keys = find_keys(bundle);
  const auto heads = parse_endpoints(places);
  if (!heads)
    all.push_back({"heads", health::broken, heads.error().message,
                   "--connect is HOST:PORT, or several with commas between"});
  if (keys && heads)
    for (const auto& where : *heads)
      all.push_back(check_head(where, *keys));
  return all;
}

finding check_port(const std::string& place) {
  const auto where = parse_endpoint(place);
  const auto open = where.and_then(check_listening);
  if (!open)
    return {"port", health::broken, open.error().message,
            "name another with --listen ADDRESS:PORT; port 0 takes a free one"};
  return {"port", health::good, to_text(*where) + " is free to listen at"};
}

std::vector<finding> judge(const slots_view& view) {
  std::vector<finding> all;
  for (const auto& s : view.slots)
    all.push_back(judge(s));
  if (all.empty())
    all.push_back({"workers", health::broken,
                   fmt::format("the run has no slot, {} candidates wait", view.waiting),
                   "start one: clade worker --connect HOST:PORT --keys BUNDLE"});
  for (const auto& f : view.failures)
    all.push_back({"worker " + f.slot, health::poor,
                   fmt::format("{} failures, the last: {}", f.count, f.last),
                   "look at that machine's log if it goes on"});
  return all;
}

std::vector<finding> check_workers(const std::filesystem::path& run) {
  if (!writer_of(run / store_file_name))
    return {{"run", health::broken, run.string() + ": no session is live",
             "clade resume starts one"}};
  const auto slots = read_slots(run);
  if (!slots)
    return {{"run", health::broken, slots.error().message, "try again in a second"}};
  return judge(*slots);
}

} // namespace clade
