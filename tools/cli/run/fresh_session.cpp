#include "tools/cli/run/fresh_session.hpp"

#include "tools/cli/run/shown_session.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/run/publishing.hpp"

#include <fmt/format.h>

#include <iostream>

namespace clade {

void override_by(const fresh_session_options& options,
                 std::vector<std::string>& overrides) {
  if (options.seed)
    overrides.push_back(fmt::format("experiment.seed={}", *options.seed));
  if (!options.slots.empty())
    overrides.push_back(fmt::format("slots.local=\"{}\"", options.slots));
  if (!options.sharing.listen.empty())
    overrides.push_back(fmt::format("slots.listen=\"{}\"", options.sharing.listen));
}

int show_fresh_session(const fresh_session_options& options,
                       const std::filesystem::path& file,
                       const std::function<expected<new_run>()>& make,
                       const std::function<void(const new_run&)>& say_start) {
  const auto lease = lease_of(options.sharing);
  if (!lease)
    return report(lease.error());
  const auto publish = publishing_at(options.sharing.publish, options.sharing.keys);
  if (!publish)
    return report(publish.error());
  if (const auto enough = check_process_limits(); !enough)
    return report(enough.error());
  auto fresh = make();
  if (!fresh)
    return report(fresh.error());
  for (const std::string& line : fresh->data_lines)
    std::cerr << "data: " << line << "\n";
  if (!options.json) {
    std::cout << fresh->experiment.name << ": " << fresh->folder.string() << std::endl;
    say_start(*fresh);
  }
  return show_session(
      {.experiment = std::move(fresh->experiment),
       .problem = std::move(fresh->problem),
       .folder = fresh->folder,
       .authority = options.sharing.keys,
       .publish = *publish,
       .lease = *lease},
      {.file = file, .note = std::move(fresh->note), .json = options.json},
      std::move(fresh->file), std::move(fresh->state));
}

} // namespace clade
