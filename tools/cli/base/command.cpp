#include "tools/cli/base/command.hpp"

#include "engine/config/file/units.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <iomanip>
#include <iostream>
#include <sstream>

namespace clade {

void add_sharing(CLI::App& sub, sharing_options& options) {
  sub.add_option("--listen", options.listen,
                 "Open the run to workers of other machines on this ADDRESS:PORT");
  sub.add_option(
      "--keys", options.keys,
      "A folder made by clade keys new: its workers may join and its viewers may "
      "watch. Otherwise the run makes keys of its own");
  sub.add_option("--publish", options.publish,
                 "Let viewers on other machines that have keys (clade keys viewer) watch "
                 "the run on this ADDRESS:PORT and the two ports after it");
  sub.add_option("--lease", options.lease,
                 "How long a node may be silent before its candidate is tried elsewhere")
      ->capture_default_str();
}

expected<std::chrono::milliseconds> parse_time(const std::string& option,
                                               const std::string& text) {
  return parse_duration(text)
      .map(
          [](auto d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d); })
      .map_error([&](const error& e) {
        return error{e.kind, fmt::format("{} \"{}\": {}", option, text, e.message)};
      });
}

expected<std::chrono::milliseconds> parse_lease(const std::string& text,
                                                const char* heard) {
  const auto lease = parse_time("--lease", text);
  if (lease && *lease < shortest_lease)
    return fail(error_kind::invalid_input,
                fmt::format("--lease \"{}\": {} are heard a few times a second at most; "
                            "give them a second (1s) at least",
                            text, heard));
  return lease;
}

expected<std::chrono::milliseconds> lease_of(const sharing_options& options) {
  return parse_lease(options.lease, "nodes");
}

expected<candidate_id> parse_candidate(std::string text, const std::string& before,
                                       const std::string& behind) {
  if (text.starts_with('#'))
    text.erase(0, 1);
  candidate_id id = 0;
  if (!CLI::detail::lexical_cast(text, id) || id == 0 || text.front() == '-')
    return fail(error_kind::invalid_input, before + text + behind);
  return id;
}

std::string shortened_middle(const std::string& text) {
  constexpr std::size_t longest = 2000, beginning = 1500, end = 400;
  if (text.size() <= longest)
    return text;
  // Characters of UTF-8 stay whole.
  const auto inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t from = beginning, to = text.size() - end;
  while (from > 0 && inside(from))
    --from;
  while (to < text.size() && inside(to))
    ++to;
  return fmt::format("{} ... {}", text.substr(0, from), text.substr(to));
}

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    const auto n = parse_number<std::uint64_t>(text);
    if (n && *n >= low && *n <= high)
      return "";
    return fmt::format("must be a whole number from {} to {}, not \"{}\"", low, high,
                       shortened_middle(text));
  };
  return {check, ""};
}

CLI::Validator number_between(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    double v = 0;
    if (CLI::detail::lexical_cast(text, v) && v >= low && v <= high)
      return "";
    std::ostringstream said;
    said << std::setprecision(15) << "must be a number from " << low << " to " << high
         << ", not \"" << shortened_middle(text) << '"';
    return said.str();
  };
  return {check, ""};
}

int report(const error& e) {
  // Text that was printed before belongs before it, also where both go to one file.
  std::cout.flush();
  std::cerr << "clade: " << shortened_middle(e.message) << std::endl;
  switch (e.kind) {
  case error_kind::invalid_input:
  case error_kind::not_found:
  case error_kind::corrupt:
  case error_kind::conflict:
  case error_kind::refused:
    return 2;
  case error_kind::io:
  case error_kind::internal:
    break;
  }
  return 1;
}

} // namespace clade
