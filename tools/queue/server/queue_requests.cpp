#include "tools/queue/server/queue_requests.hpp"

#include "tools/http/answers.hpp"
#include "tools/queue/processes/entry_log.hpp"
#include "tools/views/web/page_files.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <system_error>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t log_piece_bytes = 1 << 20;

constexpr const char* no_page =
    "<!doctype html><meta charset=\"utf-8\"><title>Clade</title><p>This clade was built "
    "without its page: build it with tools/clade where Node can be installed; what "
    "/v1/openapi.json describes works.\n";

expected<std::vector<entry_id>> parse_ids(const std::string& text) {
  std::vector<entry_id> ids;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    entry_id id = 0;
    const auto [next, problem] = std::from_chars(at, end, id);
    if (problem != std::errc{} || (next != end && *next != ',') || next + 1 == end)
      return fail(error_kind::invalid_input, "ids are numbers with commas between them");
    ids.push_back(id);
    at = next == end ? end : next + 1;
  }
  if (ids.empty())
    return fail(error_kind::invalid_input, "ids names no entry");
  return ids;
}

bool is_state_or_all(const std::string& text) {
  for (std::size_t s = 0; s < entry_states; ++s)
    if (text == to_text(static_cast<entry_state>(s)))
      return true;
  return text == "all";
}

} // namespace

expected<list_query> parse_list_query(const httplib::Request& req) {
  list_query q{.state = req.get_param_value("state")};
  for (const auto& [name, number] :
       std::initializer_list<std::pair<const char*, std::uint64_t*>>{
           {"after", &q.after},
           {"count", &q.count},
           {"seen", &q.seen},
           {"wait", &q.wait_ms}}) {
    const auto read = number_of(req, name, *number);
    if (!read)
      return tl::unexpected(read.error());
    *number = *read;
  }
  if (req.has_param("state") && !is_state_or_all(q.state))
    return fail(error_kind::invalid_input, "state is that of an entry, or all");
  if (!req.has_param("ids"))
    return q;
  return parse_ids(req.get_param_value("ids")).map([&](std::vector<entry_id> ids) {
    q.ids = std::move(ids);
    return q;
  });
}

void give_log(const httplib::Request& req, httplib::Response& res,
              const std::filesystem::path& file) {
  const auto offset = number_of(req, "offset", 0), tail = number_of(req, "tail", 0);
  for (const auto* number : {&offset, &tail})
    if (!*number)
      return give_error(res, 400, number->error().message);
  std::error_code none; // An entry that has not begun has no log.
  const auto there = std::filesystem::exists(file, none)
                         ? std::filesystem::file_size(file, none)
                         : std::uintmax_t{0};
  const auto from = req.has_param("tail") ? there - std::min<std::uintmax_t>(there, *tail)
                                          : std::uintmax_t{*offset};
  const auto piece = read_log(file, from, log_piece_bytes);
  if (!piece)
    return give_error(res, 500, piece.error().message);
  res.set_header(log_offset_header, std::to_string(piece->offset));
  give(res, "application/octet-stream", piece->text);
}

bool give_queue_page(const httplib::Request& req, httplib::Response& res) {
  if (req.path != "/")
    return give_page_file(res, req.path);
  if (!give_page_file(res, "/queue.html"))
    give(res, "text/html; charset=utf-8", no_page);
  return true;
}

} // namespace clade
