#pragma once

#include "engine/queue/queue_entry.hpp"
#include "genome/base/error.hpp"

#include <httplib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// The part of the list of entries that a request asks for (queue_server.hpp).
struct list_query {
  std::string state{};         ///< A state's name, or "all"; empty: of what is not over.
  std::vector<entry_id> ids{}; ///< These alone, unless it is empty.
  entry_id after = 0;
  std::uint64_t count = UINT64_MAX;
  std::uint64_t seen = UINT64_MAX, wait_ms = 0;
};

/// `invalid_input`: a parameter is not what it must be.
[[nodiscard]] expected<list_query> parse_list_query(const httplib::Request& req);

/// Answers what the file has from `offset` on, or the last bytes (`tail`): 1 MiB at most.
/// Nothing where there is no file.
void give_log(const httplib::Request& req, httplib::Response& res,
              const std::filesystem::path& file);

/// Answers with a file of the page; "/" is that of queues. False: there is none of this
/// path, and nothing is answered.
[[nodiscard]] bool give_queue_page(const httplib::Request& req, httplib::Response& res);

} // namespace clade
