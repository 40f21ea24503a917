#include "engine/queue/waiting_limits.hpp"

#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <variant>

namespace clade {

namespace {

/// The bytes of an entry without a word.
constexpr std::uint64_t least_entry_bytes = 256;

struct amount {
  std::uint64_t entries = 0, bytes = 0;

  void add(const queue_submission& s) {
    ++entries;
    bytes += bytes_of(s);
  }
};

/// The bytes of the fields that have no fixed size.
struct byte_counter {
  std::uint64_t bytes = 0;

  void operator()(const char*, const auto& v, const auto&) {
    if constexpr (requires { v.size(); })
      bytes += v.size() * sizeof(v.front());
    if constexpr (requires { v.front().size(); })
      for (const auto& one : v)
        bytes += one.size();
  }
  void last(const char* name, const auto& v, const auto& said) {
    if (v)
      (*this)(name, *v, said);
  }
};

expected<void> refuse(const std::string& user, const std::string& most,
                      const char* option) {
  return fail(error_kind::conflict,
              fmt::format("{} would have more than {} waiting, which is what one user "
                          "may have (clade serve {}); submit it when less waits",
                          user, most, option));
}

} // namespace

std::uint64_t bytes_of(const queue_submission& s) {
  byte_counter counter;
  fields(counter, s);
  return least_entry_bytes + counter.bytes - s.user.size();
}

expected<void> check_waiting(const queue_state& state, const queue_rules& rules,
                             std::span<const queue_event> submitted) {
  std::map<std::string, amount> users;
  for (const auto& e : submitted)
    if (const auto* s = std::get_if<entry_submitted>(&e))
      users[s->what.user].add(s->what);
  for (const auto id : state.waiting) {
    const auto& what = state.entries.at(id).what;
    if (const auto found = users.find(what.user); found != users.end())
      found->second.add(what);
  }
  for (const auto& [user, waits] : users) {
    if (waits.entries > rules.most_waiting)
      return refuse(user, fmt::format("{} entries", rules.most_waiting),
                    "--most-waiting N");
    if (waits.bytes > rules.most_waiting_bytes)
      return refuse(user, binary_size(rules.most_waiting_bytes) + " of commands",
                    "--most-waiting-size SIZE");
  }
  return {};
}

} // namespace clade
