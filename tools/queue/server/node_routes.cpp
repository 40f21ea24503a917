#include "tools/queue/server/node_routes.hpp"

#include "genome/unique_fd.hpp"
#include "tools/queue/entry_command.hpp"
#include "tools/views/web/web_answers.hpp"

#include <fcntl.h>
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

bool is_worker(const queue_user& u, httplib::Response& res) {
  if (u.role == queue_role::worker || u.role == queue_role::admin)
    return true;
  give_error(res, 403,
             u.name
                 + " is no worker; clade serve FOLDER --add-user NAME "
                   "--role worker makes one");
  return false;
}

void report(queue_head& head, std::atomic<int>& waiting, const httplib::Request& req,
            httplib::Response& res) {
  const auto wait = number_of(req, "wait", 0);
  const auto r = decode_node_report(req.body);
  if (!wait || !r)
    return give_error(res, 400, wait ? r.error().message : wait.error().message);
  const bool may = waiting.fetch_add(1) < most_waiting;
  const auto orders = head.report(
      *r, std::chrono::milliseconds(may ? std::min(*wait, longest_wait_ms) : 0));
  waiting.fetch_sub(1);
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
    return fail(error_kind::io,
                file.string() + ": cannot be written: " + std::strerror(errno));
  return {};
}

void take_log(queue_head& head, std::atomic<bool>& warned, const httplib::Request& req,
              httplib::Response& res) {
  const auto entry = number_of(req, "entry", 0), start = number_of(req, "start", 0),
             offset = number_of(req, "offset", 0);
  const auto node = req.get_param_value("node");
  for (const auto* number : {&entry, &start, &offset})
    if (!*number)
      return give_error(res, 400, number->error().message);
  const entry_id id = *entry;
  if (!head.runs_on(id, static_cast<std::uint32_t>(*start), node))
    return give_error(res, 409, "#" + std::to_string(id) + " does not run on " + node);
  const auto folder = entry_folder(head.folder(), id);
  const auto written = write_log(folder, req.body, *offset);
  if (written)
    if (const auto done = shorten_log(folder / entry_log_name, head.log_bytes());
        !done && !warned.exchange(true))
      head.warn(done.error());
  give_json(res, written.map([] { return std::string("{}"); }));
}

} // namespace

void add_node_routes(httplib::Server& server, queue_head& head, queue_door door) {
  const auto waiting = std::make_shared<std::atomic<int>>(0);
  server.Post("/v1/nodes", [&head, waiting, door](const httplib::Request& req,
                                                  httplib::Response& res) {
    if (const auto u = door(req, res); u && is_worker(*u, res))
      report(head, *waiting, req, res);
  });
  const auto warned = std::make_shared<std::atomic<bool>>(false);
  server.Post("/v1/nodes/log",
              [&head, warned, door](const httplib::Request& req, httplib::Response& res) {
                if (const auto u = door(req, res); u && is_worker(*u, res))
                  take_log(head, *warned, req, res);
              });
}

} // namespace clade
