#include "tools/queue/server/node_routes.hpp"

#include "genome/base/text.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/http/answers.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

namespace clade {

namespace {

/// A request that waits keeps a thread of the server.
constexpr int most_waiting = 24;
constexpr std::uint64_t longest_wait_ms = 20'000;
/// No disk has as much, and a file system may take a file that seems to.
constexpr std::uint64_t most_log_offset = std::uint64_t{1} << 50;

/// The state that requests share.
struct node_requests {
  std::atomic<int> waiting = 0;     ///< How many wait for orders.
  std::atomic<bool> warned = false; ///< A log cannot be shortened, and it was said.
};

void report(queue_head& head, node_requests& all, const queue_user& u,
            const httplib::Request& req, httplib::Response& res) {
  const auto wait = number_of(req, "wait", 0);
  const auto r = decode_node_report(req.body);
  if (!wait || !r)
    return give_error(res, 400, wait ? r.error().message : wait.error().message);
  const bool may = all.waiting.fetch_add(1) < most_waiting;
  const auto orders = head.report(
      *r, u, std::chrono::milliseconds(may ? std::min(*wait, longest_wait_ms) : 0));
  all.waiting.fetch_sub(1);
  if (!orders)
    return give_json(res, tl::unexpected(orders.error()));
  const auto body = encode(*orders);
  give(res, "application/msgpack", {body.data(), body.size()});
}

/// Writes what came again to the same place.
expected<void> write_log(const std::filesystem::path& folder, const std::string& text,
                         std::uint64_t offset) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const auto file = folder / entry_log_name;
  const unique_fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  std::size_t done = 0;
  while (out && done < text.size()) {
    const auto count = ::pwrite(out.get(), text.data() + done, text.size() - done,
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += static_cast<std::size_t>(count);
  }
  if (done < text.size() || !out)
    return fail(error_kind::io, fmt::format("{}: cannot be written: {}", file.string(),
                                            std::strerror(errno)));
  return {};
}

void take_log(queue_head& head, node_requests& all, const queue_user& u,
              const httplib::Request& req, httplib::Response& res) {
  const auto entry = number_of(req, "entry", 0), start = number_of(req, "start", 0),
             offset = number_of(req, "offset", 0);
  const auto node = req.get_param_value("node");
  for (const auto* number : {&entry, &start, &offset})
    if (!*number)
      return give_error(res, 400, number->error().message);
  if (*offset > most_log_offset)
    return give_error(res, 400, "offset: no log is that long");
  if (*start > UINT32_MAX)
    return give_error(res, 400, "start: no entry is started so often");
  const entry_id id = *entry;
  const held_entry held{.id = id, .start = static_cast<std::uint32_t>(*start)};
  if (const auto may = head.check_log_of(held, node, u); !may)
    return give_json(res, tl::unexpected(may.error()));
  const auto folder = entry_folder(head.folder(), id);
  const auto written = write_log(folder, req.body, *offset);
  if (written)
    if (const auto done = shorten_log(folder / entry_log_name, head.log_bytes());
        !done && !all.warned.exchange(true))
      head.warn(done.error());
  give_json(res, written.map([] { return std::string("{}"); }));
}

} // namespace

bool may_report(const queue_user& u, httplib::Response& res) {
  if (u.role == queue_role::worker || u.role == queue_role::admin)
    return true;
  give_error(res, 403,
             u.name
                 + " is no worker; clade serve FOLDER --add-user NAME "
                   "--role worker makes one");
  return false;
}

void add_node_routes(httplib::Server& server, queue_head& head, queue_door door) {
  const auto all = std::make_shared<node_requests>();
  server.Post("/v1/nodes",
              [&head, all, door](const httplib::Request& req, httplib::Response& res) {
                if (const auto u = door(req, res); u && may_report(*u, res))
                  report(head, *all, *u, req, res);
              });
  server.Post("/v1/nodes/log",
              [&head, all, door](const httplib::Request& req, httplib::Response& res) {
                if (const auto u = door(req, res); u && may_report(*u, res))
                  take_log(head, *all, *u, req, res);
              });
}

} // namespace clade
