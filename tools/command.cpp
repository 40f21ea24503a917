#include "tools/command.hpp"

#include "engine/config/units.hpp"

#include <iostream>

namespace clade {

void add_sharing(CLI::App& sub, sharing_options& options) {
  sub.add_option("--listen", options.listen,
                 "Open the run to workers of other machines on this ADDRESS:PORT");
  sub.add_option("--keys", options.keys,
                 "Folder of clade keys new, whose workers may join and whose viewers may "
                 "watch; otherwise the run "
                 "makes keys of its own");
  sub.add_option("--publish", options.publish,
                 "Let viewers of other machines, with keys of clade keys viewer, watch "
                 "the run on this ADDRESS:PORT and the two ports after it");
  sub.add_option("--lease", options.lease,
                 "How long a node may be silent before what it has is tried elsewhere")
      ->capture_default_str();
}

expected<std::chrono::milliseconds> parse_time(const std::string& option,
                                               const std::string& text) {
  return parse_duration(text)
      .map(
          [](auto d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d); })
      .map_error([&](const error& e) {
        return error{e.kind, option + " \"" + text + "\": " + e.message};
      });
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

int report(const error& e) {
  // What was printed before belongs before it, also where both go to one file.
  std::cout.flush();
  std::cerr << "clade: " << e.message << std::endl;
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
