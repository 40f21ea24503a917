#include "tools/queue/head/entry_tokens.hpp"

#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/processes/entry_command.hpp"
#include "tools/views/web/web_access.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

constexpr std::uint64_t most_token_bytes = 256;

std::filesystem::path token_file(const std::filesystem::path& queue, entry_id id) {
  return entry_folder(queue, id) / entry_queue_name / token_file_name;
}

expected<std::string> token_in(const std::filesystem::path& file) {
  return read_whole_file(file, {.most_bytes = most_token_bytes}).map(first_line_of);
}

std::string beginning_of_token(entry_id id) {
  return fmt::format("{}{}-", entry_token_prefix, id);
}

} // namespace

bool is_token_of(entry_id id, std::string_view token) {
  const auto beginning = beginning_of_token(id);
  return token.starts_with(beginning) && token.size() >= beginning.size() + 16
         && token.find_first_of("\r\n") == std::string::npos;
}

std::optional<entry_id> entry_of_token(std::string_view token) {
  if (!token.starts_with(entry_token_prefix))
    return std::nullopt;
  token.remove_prefix(entry_token_prefix.size());
  const auto end = token.find('-');
  return end == token.npos ? std::nullopt : parse_number<entry_id>(token.substr(0, end));
}

bool has_token(const std::filesystem::path& queue, entry_id id) {
  std::error_code unknown;
  return std::filesystem::exists(token_file(queue, id), unknown);
}

expected<std::string> given_token(const std::filesystem::path& queue, entry_id id) {
  if (has_token(queue, id))
    return token_in(token_file(queue, id));
  const auto drawn = random_token();
  if (!drawn)
    return drawn;
  const auto token = beginning_of_token(id) + *drawn;
  return give_token(queue, id, token).map([&] { return token; });
}

expected<void> give_token(const std::filesystem::path& queue, entry_id id,
                          const std::string& token) {
  const auto file = token_file(queue, id);
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", file.parent_path().string(),
                            failed.message()));
  return write_private(file, token + "\n");
}

bool is_its_token(const std::filesystem::path& queue, entry_id id,
                  std::string_view token) {
  const auto known = token_in(token_file(queue, id));
  return known && equal_in_constant_time(*known, token);
}

} // namespace clade
