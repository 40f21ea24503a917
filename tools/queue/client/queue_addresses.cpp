#include "tools/queue/client/queue_addresses.hpp"

#include "engine/store/queue/queue_file.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace clade {

namespace {

constexpr std::uint64_t most_file_bytes = 64 << 10;
constexpr std::uint64_t most_certificate_bytes = 1 << 20;

tl::unexpected<error> wrong_address(const std::string& text) {
  return fail(
      error_kind::invalid_input,
      fmt::format(
          "\"{}\" is no address of a server: write ADDRESS:PORT, such as 127.0.0.1:4711",
          text));
}

/// In the queue's folder itself.
expected<void> publish_here(const added_address& a) {
  std::string lines;
  for (const auto& one : with_address(read_addresses(a.folder), a.added, a.as_first))
    lines += one + "\n";
  if (auto ok = write_private(a.folder / address_file_name, lines).and_then([&] {
        return write_private(a.folder / server_users_file_name, with_own_user(a.folder));
      });
      !ok || a.certificate.empty())
    return ok;
  return read_whole_file(a.certificate, {.most_bytes = most_certificate_bytes})
      .and_then([&](const std::string& pem) {
        return write_private(a.folder / certificate_file_name, pem);
      });
}

/// For the queue's folder and those of its users.
expected<void> publish(const added_address& a) {
  if (auto ok = publish_here(a); !ok)
    return ok;
  std::error_code none;
  for (const auto& user :
       std::filesystem::directory_iterator(a.folder / users_folder_name, none))
    if (auto ok = copy_client_files(a.folder, user.path()); !ok)
      return ok;
  return {};
}

} // namespace

std::string address_of(const queue_server_params& params) {
  if (!params.advertised.empty())
    return params.advertised;
  const bool six = params.host.find(':') != std::string::npos;
  return fmt::format("{}{}:{}", params.certificate.empty() ? "http://" : "https://",
                     six ? fmt::format("[{}]", params.host) : params.host, params.port);
}

expected<void> read_address(std::string text, queue_server_params& params) {
  const auto whole = text;
  if (const auto scheme = text.find("://"); scheme != std::string::npos)
    text.erase(0, scheme + 3);
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return wrong_address(whole);
  params.host = text.substr(0, colon);
  if (params.host.starts_with('[') && params.host.ends_with(']'))
    params.host = params.host.substr(1, params.host.size() - 2);
  const char *from = text.data() + colon + 1, *end = text.data() + text.size();
  const auto [read, problem] = std::from_chars(from, end, params.port);
  if (problem != std::errc{} || read != end || from == end)
    return wrong_address(whole);
  return {};
}

expected<void> check_advertised(const std::string& address) {
  const bool begins = address.starts_with("http://") || address.starts_with("https://");
  const bool is_line =
      std::ranges::none_of(address, [](unsigned char c) { return c <= ' ' || c == 127; });
  queue_server_params read;
  if (begins && is_line && read_address(address, read))
    return {};
  return fail(
      error_kind::invalid_input,
      fmt::format("\"{}\" is no address of a server: write https://HOST:PORT", address));
}

std::vector<std::string> read_addresses(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  const auto text =
      read_whole_file(folder / address_file_name, {.most_bytes = most_file_bytes});
  if (!text)
    return lines;
  std::istringstream in(*text);
  for (std::string one; std::getline(in, one) && lines.size() < most_addresses;) {
    if (one.ends_with('\r'))
      one.pop_back();
    if (!one.empty())
      lines.push_back(one);
  }
  return lines;
}

std::vector<std::string> with_address(std::vector<std::string> lines,
                                      const std::string& added, bool as_first) {
  const auto known = std::ranges::find(lines, added);
  if (known != lines.end() && !as_first)
    return lines;
  if (known != lines.end())
    lines.erase(known);
  lines.insert(as_first ? lines.begin() : lines.end(), added);
  // The servers that have not served for longest are the last but the new one.
  while (lines.size() > most_addresses)
    lines.erase(lines.end() - (as_first ? 1 : 2));
  return lines;
}

namespace {

expected<void> write_addresses(const std::filesystem::path& folder,
                               const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& one : lines)
    text += one + "\n";
  return write_private(folder / address_file_name, text);
}

} // namespace

std::vector<std::string> learn_addresses(const std::filesystem::path& folder,
                                         const std::string& said) {
  const auto known = read_addresses(folder);
  const auto is_safe = [](const std::string& one) { return one.starts_with("https://"); };
  const bool safe = std::ranges::all_of(known, is_safe);
  std::vector<std::string> told;
  std::istringstream words(said);
  for (std::string one; words >> one && told.size() < most_addresses;)
    if (check_advertised(one) && (!safe || is_safe(one)))
      told.push_back(one);
  const bool has_own = std::ranges::any_of(known, [&](const std::string& one) {
    return std::ranges::find(told, one) == told.end();
  });
  auto lines = has_own ? known : told;
  for (const auto& one : told)
    lines = with_address(std::move(lines), one, false);
  if (lines.empty() || lines == known)
    return known;
  // A client whose folder may not be written is told again by the next answer.
  static_cast<void>(write_addresses(folder, lines));
  return lines;
}

expected<void> add_address(const added_address& address) {
  auto locks = byte_locks::open(address.folder / queue_file_name);
  if (!locks)
    return tl::unexpected(locks.error());
  // The lock ends with `locks`.
  return locks->lock(folder_lock, folder_lock_patience).and_then([&] {
    return publish(address);
  });
}

} // namespace clade
