#include "engine/queue/waiting_limits.hpp"

#include "genome/base/whole_file.hpp"

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

expected<void> refuse(const std::string& user, const std::string& most,
                      const char* option) {
  return fail(error_kind::conflict, user + " would have more than " + most
                                        + " waiting, which is what one user may have "
                                          "(clade serve "
                                        + option + "); submit it when less waits");
}

} // namespace

std::uint64_t bytes_of(const queue_submission& s) {
  auto bytes = least_entry_bytes + s.directory.size() + s.name.size() + s.device.size()
               + s.once.size() + s.after.size() * sizeof(entry_id);
  for (const auto& word : s.words)
    bytes += word.size() + sizeof(std::string);
  return bytes;
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
      return refuse(user, std::to_string(rules.most_waiting) + " entries",
                    "--most-waiting N");
    if (waits.bytes > rules.most_waiting_bytes)
      return refuse(user, binary_size(rules.most_waiting_bytes) + " of commands",
                    "--most-waiting-size SIZE");
  }
  return {};
}

} // namespace clade
