#include "tools/cli/queue/queue_option.hpp"

#include "engine/config/file/units.hpp"
#include "engine/queue/queue_entry.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <iostream>

namespace clade {

void add_queue_option(CLI::App& sub, std::filesystem::path& queue) {
  sub.add_option("--queue", queue,
                 "The folder of clade serve, or the one that its user was given")
      ->envname("CLADE_QUEUE");
}

expected<queue_client> open_queue(const std::filesystem::path& queue) {
  if (queue.empty())
    return fail(error_kind::invalid_input,
                "which queue? write --queue FOLDER, or: export CLADE_QUEUE=FOLDER");
  return queue_client::open(queue);
}

expected<void>
follow_entries(queue_client& client, const std::string& query,
               const std::function<bool(const ordered_json& entries)>& look) {
  client.be_patient(restart_time);
  std::string since;
  while (true) {
    auto answer =
        client.get(fmt::format("/v1/entries?{}{}", query, since), entries_answer);
    if (!answer)
      return tl::unexpected(answer.error());
    if (!look(answer->at("entries")))
      return {};
    since = fmt::format("&wait={}&seen={}", client.longest_wait_ms(),
                        answer->at("change").get<std::uint64_t>());
  }
}

void add_log_limit_option(CLI::App& sub, std::string& limit) {
  sub.add_option("--log-limit", limit,
                 "What the log of an entry may take of the disk, 8MiB at least: of a "
                 "longer one the beginning and the end are kept")
      ->capture_default_str();
}

expected<std::uint64_t> read_log_limit(const std::string& text) {
  auto bytes = parse_size(text);
  if (!bytes)
    return fail(error_kind::invalid_input, "--log-limit: " + bytes.error().message);
  if (*bytes < least_log_bytes)
    return fail(error_kind::invalid_input,
                fmt::format("--log-limit \"{}\": 8MiB at least", text));
  return bytes;
}

void add_idle_option(CLI::App& sub, std::string& idle) {
  sub.add_option(
      "--idle", idle,
      "End when there was nothing to run for so long, such as 10min. Left out: "
      "stay");
}

expected<std::optional<std::chrono::milliseconds>> read_idle(const std::string& text) {
  if (text.empty())
    return std::nullopt;
  return parse_time("--idle", text).map([](std::chrono::milliseconds time) {
    return std::optional(time);
  });
}

std::function<void(const error&)> warning(const std::string& program) {
  return [program](const error& e) {
    std::cerr << program << ": goes on: " << e.message << std::endl;
  };
}

std::string own_user_name() {
  const auto* user = ::getpwuid(::getuid());
  return user == nullptr ? std::to_string(::getuid()) : user->pw_name;
}

bool is_over(const ordered_json& entry) {
  const auto state = entry.value("state", "");
  for (std::size_t i = 0; i < entry_states; ++i)
    if (const auto s = static_cast<entry_state>(i); state == to_text(s))
      return is_over(s);
  return false;
}

} // namespace clade
