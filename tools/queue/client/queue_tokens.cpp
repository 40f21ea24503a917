#include "tools/queue/client/queue_tokens.hpp"

#include "engine/store/queue/queue_file.hpp"
#include "genome/base/text.hpp"
#include "genome/base/trusted_file.hpp"
#include "genome/base/unique_fd.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/views/web/web_access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace clade {

namespace {

constexpr std::array<std::string_view, 4> role_names{"viewer", "user", "admin", "worker"};
constexpr std::uint64_t most_bytes = 4 << 20;
constexpr std::size_t longest_name = 64;

tl::unexpected<error> cannot(const std::filesystem::path& file, const char* what,
                             int reason) {
  return fail(error_kind::io, fmt::format("{}: cannot be {}: {}", file.string(), what,
                                          std::strerror(reason)));
}

/// Returns the version of a file; of one that is not there, all 0. A file that was
/// replaced is another, also within the same tick of the clock.
std::array<std::int64_t, 3> version_of(const std::filesystem::path& file) {
  struct stat seen {};
  if (::stat(file.c_str(), &seen) != 0)
    return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {static_cast<std::int64_t>(seen.st_ino), seen.st_size,
          seen.st_ctim.tv_sec * second + seen.st_ctim.tv_nsec};
}

} // namespace

std::string_view to_text(queue_role r) {
  return role_names.at(static_cast<std::size_t>(r));
}

std::optional<queue_role> parse_role(std::string_view text) {
  return parse_one_of<queue_role>(role_names, text);
}

expected<void> check_user_name(const std::string& name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (name.empty() || name.size() > longest_name || name.starts_with('.')
      || name.find_first_not_of(allowed) != std::string::npos)
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is no user's name; take letters, digits, \".\", "
                            "\"-\" and \"_\", 64 at most",
                            name));
  return {};
}

expected<void> write_private(const std::filesystem::path& file,
                             const std::string& content) {
  auto fresh = file;
  fresh += ".new";
  ::unlink(fresh.c_str()); // The file is that of a server that was killed just then.
  unique_fd out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out)
    return cannot(file, "written", errno);
  if (const int failed = write_all(out.get(), content); failed != 0)
    return cannot(file, "written", failed);
  if (::fsync(out.get()) != 0 || out.close() != 0
      || ::rename(fresh.c_str(), file.c_str()) != 0)
    return cannot(file, "written", errno);
  return {};
}

expected<void> queue_tokens::read() {
  const auto now = version_of(file());
  if (read_ && now == version_)
    return {};
  read_ = false;
  lines_.clear();
  if (auto ok = check_trusted(folder_).and_then(
          [&] { return check_trusted(file(), {.secret = true}); });
      !ok)
    return ok;
  const auto text = read_whole_file(file(), {.most_bytes = most_bytes});
  if (!text)
    return tl::unexpected(text.error());
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string one; std::getline(lines, one);) {
    ++number;
    if (one.empty())
      continue;
    std::istringstream words(one);
    std::string role, more;
    line l;
    words >> role >> l.user.name >> l.token;
    const auto known = parse_role(role);
    if (!known || l.token.size() < 16 || words >> more)
      return fail(error_kind::invalid_input,
                  fmt::format("{}:{}: a line is \"ROLE NAME TOKEN\", the role viewer, "
                              "user, admin or worker",
                              file().string(), number));
    l.user.role = *known;
    lines_.push_back(std::move(l));
  }
  version_ = now;
  read_ = true;
  return {};
}

expected<std::string> queue_tokens::append(const queue_user& u) {
  const auto token = random_token();
  if (!token)
    return token;
  std::string all;
  for (const auto& l : lines_)
    all += fmt::format("{} {} {}\n", to_text(l.user.role), l.user.name, l.token);
  all += fmt::format("{} {} {}\n", to_text(u.role), u.name, *token);
  read_ = false;
  return write_private(file(), all).map([&] { return *token; });
}

expected<bool> queue_tokens::prepare(const std::string& admin) {
  const std::lock_guard lock(mutex_);
  std::error_code unknown;
  if (std::filesystem::exists(file(), unknown))
    return read().map([] { return false; });
  if (auto ok = check_user_name(admin); !ok)
    return tl::unexpected(ok.error());
  const bool is_new = !std::filesystem::exists(folder_ / queue_file_name, unknown)
                      && !std::filesystem::exists(folder_ / token_file_name, unknown);
  return append({.name = admin, .role = queue_role::admin})
      .and_then([&](const std::string& token) {
        return write_private(folder_ / token_file_name, token + "\n");
      })
      .map([&] { return !is_new; });
}

expected<std::filesystem::path> queue_tokens::add(const queue_user& u) {
  const std::lock_guard lock(mutex_);
  if (auto ok = check_user_name(u.name); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = read(); !ok)
    return tl::unexpected(ok.error());
  if (std::ranges::any_of(lines_, [&](const line& l) { return l.user.name == u.name; }))
    return fail(error_kind::conflict,
                fmt::format("{}: there is a user {} already", file().string(), u.name));
  const auto given = folder_ / users_folder_name / u.name;
  std::error_code failed;
  std::filesystem::create_directories(given, failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", given.string(), failed.message()));
  return copy_client_files(folder_, given)
      .and_then([&] { return append(u); })
      .and_then([&](const std::string& token) {
        return write_private(given / token_file_name, token + "\n");
      })
      .map([&] { return given; });
}

expected<std::string> queue_tokens::text() const {
  return read_whole_file(file(), {.most_bytes = most_bytes});
}

expected<queue_user> queue_tokens::find(const std::string& token) {
  const std::lock_guard lock(mutex_);
  if (auto ok = read(); !ok)
    return tl::unexpected(ok.error());
  const line* found = nullptr;
  for (const auto& l : lines_) // All of them, so that the time tells nothing.
    if (equal_in_constant_time(l.token, token))
      found = &l;
  if (found == nullptr)
    return fail(error_kind::refused, "this token is nobody's");
  return found->user;
}

} // namespace clade
