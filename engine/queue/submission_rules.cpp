#include "engine/queue/submission_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace clade {

namespace {

constexpr std::size_t most_command_bytes = 64 << 10;
constexpr std::size_t most_name_bytes = 200;
constexpr std::size_t most_after = 10'000;
constexpr std::int64_t most_priority = 1000;

tl::unexpected<error> refuse(const std::string& why) {
  return fail(error_kind::invalid_input, why);
}

expected<void> check_words(const queue_submission& s) {
  if (s.words.empty() || s.words.front().empty())
    return refuse("the command is empty");
  std::size_t bytes = s.directory.size();
  for (const auto& w : s.words) {
    bytes += w.size() + 1;
    if (w.find('\0') != std::string::npos)
      return refuse("a word of the command has a zero byte");
    if (is_resumable(s.kind))
      for (const char* ours : {"--slots", "--runs"})
        if (w == ours || w.starts_with(std::string(ours) + "="))
          return refuse(w
                        + ": the queue says that of a run; clade submit --slots N says "
                          "how many slots it gets");
  }
  if (bytes > most_command_bytes)
    return refuse(fmt::format(
        "the command and its directory have {} bytes, and a queue takes {} at most; put "
        "what is long into a file that the machines share, and name the file instead",
        bytes, most_command_bytes));
  return {};
}

/// Checks a text of one line for people; `option` sets it.
expected<void> check_name(const char* option, const std::string& text) {
  if (text.size() > most_name_bytes)
    return refuse(
        fmt::format("{} has {} bytes, and a queue takes {} at most; say a shorter one",
                    option, text.size(), most_name_bytes));
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 32 || c == 127; }))
    return refuse(std::string(option) + " has a control character");
  return {};
}

} // namespace

expected<void> check_submission(const queue_submission& s) {
  if (auto ok = check_words(s)
                    .and_then([&] { return check_name("--name", s.name); })
                    .and_then([&] { return check_name("--once", s.once); })
                    .and_then([&] { return check_name("--device", s.device); });
      !ok)
    return ok;
  if (!s.directory.starts_with('/') || s.directory.find('\0') != std::string::npos)
    return refuse("the directory is no absolute path");
  if (s.after.size() > most_after)
    return refuse(fmt::format(
        "it comes after {} entries, and a queue takes {} at most; submit one that comes "
        "after some of them, such as the command true, and come after that",
        s.after.size(), most_after));
  if (s.priority < -most_priority || s.priority > most_priority)
    return refuse("a priority is from -1000 to 1000");
  return {};
}

} // namespace clade
