#include "tools/queue/head/queue_json.hpp"

#include "genome/base/json_depth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace clade {

namespace {

constexpr std::size_t most_entries = 10'000;
/// The number of JSON values, each of which takes far more memory than its text.
constexpr std::size_t most_values = 500'000;

tl::unexpected<error> refuse(std::size_t number, const std::string& what) {
  return fail(error_kind::invalid_input,
              "entry " + std::to_string(number + 1) + ": " + what);
}

constexpr double least_used = 1; ///< The least use of which is said that somebody had it.

bool is_list_of_text(const ordered_json& v) {
  return v.is_array() && std::ranges::all_of(v, [](const ordered_json& one) {
           return one.is_string();
         });
}

/// Puts the value of a key into the submission; false: it is of another type.
bool read_key(const std::string& key, const ordered_json& v, queue_submission& s) {
  if (key == "command")
    return is_list_of_text(v)
           && (s.words = v.get<std::vector<std::string>>(), !v.empty());
  if (key == "kind") {
    for (std::size_t k = 0; v.is_string() && k < entry_kinds; ++k)
      if (v == to_text(static_cast<entry_kind>(k))) {
        s.kind = static_cast<entry_kind>(k);
        return true;
      }
    return false;
  }
  if (key == "directory" || key == "name" || key == "device" || key == "once") {
    auto& text = key == "directory" ? s.directory
                 : key == "name"    ? s.name
                 : key == "device"  ? s.device
                                    : s.once;
    return v.is_string() && (text = v.get<std::string>(), true);
  }
  if (key == "priority")
    return v.is_number_integer()
           && !(v.is_number_unsigned() && v.get<std::uint64_t>() > INT64_MAX)
           && (s.priority = v.get<std::int64_t>(), true);
  if (key == "slots" || key == "ranks") {
    if (!v.is_number_unsigned() || v > std::numeric_limits<std::uint32_t>::max())
      return false;
    const auto number = v.get<std::uint32_t>();
    if (key == "slots")
      s.slots = number;
    else
      s.ranks = number;
    return true;
  }
  if (key == "seconds")
    return v.is_number_unsigned() && v <= std::uint32_t{1} << 31
           && (s.time = std::chrono::seconds(v.get<std::uint32_t>()), true);
  if (key == "requeue")
    return v.is_boolean() && (s.requeue = v.get<bool>(), true);
  return v.is_array()
         && std::ranges::all_of(
             v, [](const ordered_json& one) { return one.is_number_unsigned(); })
         && (s.after = v.get<std::vector<entry_id>>(), true);
}

constexpr std::array<std::string_view, 12> keys{
    "command", "kind",    "directory", "name",  "device", "priority",
    "slots",   "seconds", "requeue",   "after", "once",   "ranks"};

expected<queue_submission> parse_one(const ordered_json& one, std::size_t number,
                                     const std::string& user) {
  if (!one.is_object())
    return refuse(number, "is no object");
  queue_submission s{.user = user};
  for (const auto& [key, v] : one.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      return refuse(number, "there is no key \"" + key + "\"");
    if (!read_key(key, v, s))
      return refuse(number, "\"" + key + "\" has no value of its kind");
  }
  if (s.words.empty())
    return refuse(number, "it has no \"command\"");
  return s;
}

ordered_json time_json(std::int64_t unix_ms) {
  return unix_ms == 0 ? ordered_json() : ordered_json(unix_ms);
}

} // namespace

bool is_theirs(const queue_user& u, const queue_entry& e) {
  return u.role == queue_role::admin
         || (u.role == queue_role::user && u.name == e.what.user);
}

ordered_json entry_json(entry_id id, const queue_entry& e, const std::string& reason,
                        const entry_view& view) {
  const auto& s = e.what;
  auto j = ordered_json::object();
  const auto put = [&](const char* key, ordered_json v, bool empty) {
    if (!view.brief || !empty)
      j.emplace(key, std::move(v));
  };
  j.emplace("id", id);
  j.emplace("user", s.user);
  put("name", some(s.name), s.name.empty());
  j.emplace("kind", to_text(s.kind));
  j.emplace("state", to_text(e.state));
  put("reason", some(reason), reason.empty());
  put("stopping", e.stopping.has_value(), !e.stopping);
  put("priority", s.priority, s.priority == 0);
  j.emplace("slots", s.slots);
  put("device", some(s.device), s.device.empty());
  put("seconds", s.time.count(), s.time.count() == 0);
  put("after", s.after, s.after.empty());
  put("requeue", s.requeue, !s.requeue);
  put("once", some(s.once), s.once.empty());
  put("ranks", s.ranks ? ordered_json(*s.ranks) : ordered_json(), !s.ranks);
  put("on", e.slots, e.slots.empty());
  j.emplace("submitted", time_json(e.submitted_ms));
  put("started", time_json(e.started_ms), e.started_ms == 0);
  put("ended", time_json(e.ended_ms), e.ended_ms == 0);
  put("starts", e.starts, e.starts == 0);
  put("losses", e.losses, e.losses == 0);
  put("command", view.readable ? ordered_json(s.words) : ordered_json(), !view.readable);
  put("directory", view.readable ? ordered_json(s.directory) : ordered_json(),
      !view.readable);
  return j;
}

ordered_json machine_json(const queue_state& state, const queue_rules& rules,
                          const std::vector<queue_slot>& slots, std::int64_t unix_ms) {
  struct had {
    std::size_t running = 0, waiting = 0, slots = 0;
    double used = 0; ///< Seconds of slots.
  };
  std::map<std::string, had> users;
  std::map<std::string, entry_id> holders;
  for (const auto id : state.running) {
    const auto& e = state.entries.at(id);
    for (const auto& s : e.slots)
      holders[s] = id;
    ++users[e.what.user].running;
    users[e.what.user].slots += e.what.slots;
    users[e.what.user].used += use_of_running(e, state.half_life, unix_ms);
  }
  for (const auto id : state.waiting)
    ++users[state.entries.at(id).what.user].waiting;
  for (const auto& [name, use] : state.use)
    if (const auto left = use_at(use, state.half_life, unix_ms); left >= least_used)
      users[name].used += left;
  auto all = ordered_json::array(), everybody = ordered_json::array();
  for (const auto& s : slots) {
    all.push_back(
        {{"slot", s.name}, {"device", s.device}, {"entry", nullptr}, {"user", nullptr}});
    if (const auto has = holders.find(s.name); has != holders.end()) {
      all.back()["entry"] = has->second;
      all.back()["user"] = state.entries.at(has->second).what.user;
    }
  }
  for (const auto& [name, u] : users)
    everybody.push_back({{"user", name},
                         {"running", u.running},
                         {"waiting", u.waiting},
                         {"slots", u.slots},
                         {"quota", rules.quota_of(name)},
                         {"used", std::llround(u.used)}});
  return {{"slots", all}, {"users", everybody}};
}

ordered_json queue_machines_json(const std::vector<queue_machine>& all) {
  auto machines = ordered_json::array();
  for (const auto& m : all)
    machines.push_back({{"machine", m.name},
                        {"state", to_text(m.state)},
                        {"slots", m.slots},
                        {"version", some(m.version)},
                        {"heard_ms", m.heard.count()},
                        {"clock_ahead_ms", m.clock_ahead.count()}});
  return machines;
}

ordered_json submission_json(const queue_submission& s) {
  ordered_json j{{"command", s.words},
                 {"kind", to_text(s.kind)},
                 {"directory", s.directory},
                 {"name", s.name},
                 {"device", s.device},
                 {"priority", s.priority},
                 {"slots", s.slots},
                 {"seconds", s.time.count()},
                 {"requeue", s.requeue},
                 {"after", s.after},
                 {"once", s.once}};
  if (s.ranks)
    j["ranks"] = *s.ranks;
  return j;
}

expected<std::vector<queue_submission>> parse_submissions(const std::string& text,
                                                          const std::string& user) {
  if (!nests_within(text, deepest_json, most_values))
    return fail(error_kind::invalid_input,
                "what is sent has more than 500000 values, or nests too deep; send fewer "
                "entries at a time");
  const auto sent = parse_shallow<ordered_json>(text);
  if (!sent.is_object() || sent.size() != 1 || !sent.contains("entries")
      || !sent["entries"].is_array() || sent["entries"].empty()
      || sent["entries"].size() > most_entries)
    return fail(
        error_kind::invalid_input,
        "what is sent is {\"entries\": [...]}, of 1 to 10000 entries, and nothing "
        "else");
  std::vector<queue_submission> all;
  for (const auto& one : sent["entries"]) {
    auto s = parse_one(one, all.size(), user);
    if (!s)
      return tl::unexpected(s.error());
    all.push_back(std::move(*s));
  }
  return all;
}

} // namespace clade
