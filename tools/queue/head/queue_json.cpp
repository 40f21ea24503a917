#include "tools/queue/head/queue_json.hpp"

#include "engine/report/base/json_fields.hpp"
#include "genome/base/json_depth.hpp"

#include <fmt/format.h>

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
  return fail(error_kind::invalid_input, fmt::format("entry {}: {}", number + 1, what));
}

constexpr double least_used = 1; ///< The least use of which is said that somebody had it.

bool is_natural(const ordered_json& v, std::uint64_t most) {
  return v.is_number_unsigned() && v.get<std::uint64_t>() <= most;
}

/// Reads a value of the type of a field; false: it is of another.
template<class T>
bool read_value(const ordered_json& v, T& to) {
  if constexpr (std::same_as<T, entry_kind>) {
    for (std::size_t k = 0; k < entry_kinds; ++k)
      if (v == to_text(static_cast<entry_kind>(k)))
        return to = static_cast<entry_kind>(k), true;
    return false;
  } else if constexpr (requires { to.emplace_back(); }) {
    to.clear();
    return v.is_array() && std::ranges::all_of(v, [&](const ordered_json& one) {
             return read_value(one, to.emplace_back());
           });
  } else if constexpr (requires { to.emplace(); }) {
    return read_value(v, to.emplace());
  } else if constexpr (requires { to.count(); }) {
    return is_natural(v, std::uint32_t{1} << 31)
           && (to = T(v.get<std::uint32_t>()), true);
  } else {
    bool fits = false;
    if constexpr (std::same_as<T, bool>)
      fits = v.is_boolean();
    else if constexpr (std::same_as<T, std::string>)
      fits = v.is_string();
    else if constexpr (std::unsigned_integral<T>)
      fits = is_natural(v, std::numeric_limits<T>::max());
    else
      fits =
          is_natural(v, INT64_MAX) || (v.is_number_integer() && !v.is_number_unsigned());
    return fits && (to = v.get<T>(), true);
  }
}

/// Puts the value of a key into its field of a submission.
struct key_reader {
  std::string_view key;
  const ordered_json& value;
  bool known = false; ///< There is a field of that key,
  bool fits = false;  ///< and the value is of its type.

  void operator()(const char* name, auto& v, const documented& said) {
    if (key != name || !said.is_sent())
      return;
    known = true;
    fits = read_value(value, v);
  }
  void last(const char* name, auto& v, const documented& said) { (*this)(name, v, said); }
};

expected<queue_submission> parse_one(const ordered_json& one, std::size_t number,
                                     const std::string& user) {
  if (!one.is_object())
    return refuse(number, "is no object");
  queue_submission s{.user = user};
  for (const auto& [key, v] : one.items()) {
    key_reader reader{key, v};
    fields(reader, s);
    if (!reader.known)
      return refuse(number, fmt::format("there is no key \"{}\"", key));
    if (!reader.fits || (key == "command" && s.words.empty()))
      return refuse(number, fmt::format("\"{}\" has no value of its kind", key));
  }
  if (s.words.empty())
    return refuse(number, "it has no \"command\"");
  return s;
}

/// Writes the fields that a client sends: all but the user, who is known by their token.
struct submission_writer {
  ordered_json& out;

  void operator()(const char* name, const auto& v, const documented& said) {
    if (said.is_sent())
      out.emplace(name, json_of(v));
  }
  void last(const char* name, const auto& v, const documented& said) {
    if (v)
      (*this)(name, v, said);
  }
};

/// Writes the fields that an entry shows behind one another; a text that is empty is null.
struct entry_writer {
  ordered_json& out;
  bool brief = false;

  template<class T>
  void operator()(const char* name, const T& v, const documented& said) {
    const bool empty = v == T{};
    if (!said.is_shown() || (brief && empty))
      return;
    out.emplace(name,
                std::same_as<T, std::string> && empty ? ordered_json() : json_of(v));
  }
  void last(const char* name, const auto& v, const documented& said) {
    (*this)(name, v, said);
  }
};

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
  entry_writer writer{j, view.brief};
  fields(writer, s);
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
  return json_of(all, [](const queue_machine& m) -> ordered_json {
    return {{"machine", m.name},
            {"state", to_text(m.state)},
            {"slots", m.slots},
            {"version", some(m.version)},
            {"heard_ms", m.heard.count()},
            {"clock_ahead_ms", m.clock_ahead.count()}};
  });
}

ordered_json submission_json(const queue_submission& s) {
  auto j = ordered_json::object();
  submission_writer writer{j};
  fields(writer, s);
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
