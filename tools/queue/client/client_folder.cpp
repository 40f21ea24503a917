#include "tools/queue/client/client_folder.hpp"

#include "genome/base/trusted_file.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <sstream>

namespace clade {

namespace {

constexpr std::array shared_names{address_file_name, certificate_file_name,
                                  server_users_file_name};
constexpr std::uint64_t most_file_bytes = 1 << 20;
constexpr std::uint64_t most_name_bytes = 256;

/// A name of this machine that it keeps when it is started again: users of another one
/// have other numbers.
std::string machine_name() {
  const auto id = read_whole_file("/etc/machine-id", {.most_bytes = most_name_bytes});
  std::string word;
  if (id && std::istringstream(*id) >> word)
    return word;
  std::array<char, most_name_bytes> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != 0 ? host.data()
                                                                          : "unknown";
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream text(
      read_whole_file(file, {.most_bytes = most_file_bytes}).value_or(""));
  for (std::string line; std::getline(text, line);)
    if (!line.empty())
      lines.push_back(line);
  return lines;
}

} // namespace

expected<void> copy_client_files(const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
  for (const char* name : shared_names) {
    const auto text = read_whole_file(from / name, {.most_bytes = most_file_bytes});
    if (!text && text.error().kind == error_kind::not_found)
      continue;
    if (auto copied = text.and_then([&](const std::string& content) {
          return write_private(to / name, content);
        });
        !copied)
      return copied;
  }
  return {};
}

expected<void> check_client_files(const std::filesystem::path& folder) {
  const auto owner = owner_of(folder / token_file_name);
  if (auto token =
          check_trusted(folder / token_file_name, {.secret = true, .also = owner});
      !token)
    return token;
  for (const char* name : shared_names)
    if (auto trusted = check_trusted(folder / name, {.also = owner});
        !trusted && trusted.error().kind != error_kind::not_found)
      return trusted;
  return {};
}

std::string with_own_user(const std::filesystem::path& folder) {
  const auto own = fmt::format("{} {}", ::geteuid(), machine_name());
  std::string all;
  for (const auto& line :
       with_address(read_lines(folder / server_users_file_name), own, true))
    all += line + "\n";
  return all;
}

std::vector<uid_t> users_trusted_with_token(const std::filesystem::path& folder) {
  std::vector<uid_t> users{0, ::geteuid()};
  if (const auto owner = owner_of(folder / token_file_name))
    users.push_back(*owner);
  for (const auto& line : read_lines(folder / server_users_file_name)) {
    std::istringstream words(line);
    uid_t user = 0;
    std::string machine;
    if (words >> user >> machine && machine == machine_name())
      users.push_back(user);
  }
  return users;
}

} // namespace clade
