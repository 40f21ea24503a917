#include "tools/cli/base/command.hpp"
#include "tools/cli/look/replay.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace clade {

int fork_run(const opened_run& run, const fork_options& options) {
  const auto made = fork_run(run, options.fork);
  if (!made)
    return report(made.error());
  const auto best = made->without_weights;
  const auto resume = "clade resume " + options.fork.name;
  if (options.json)
    std::cout << nlohmann::ordered_json{{"event", "forked"},
                                        {"folder", made->folder.string()},
                                        {"generation", options.fork.generation},
                                        {"best_without_weights",
                                         best == 0 ? nlohmann::ordered_json()
                                                   : nlohmann::ordered_json(best)},
                                        {"resume", resume}}
                     .dump(-1, ' ', false,
                           nlohmann::ordered_json::error_handler_t::replace)
              << std::endl;
  else
    std::cout
        << "forked at generation " << options.fork.generation << ": "
        << made->folder.string()
        << (best == 0
                ? ""
                : fmt::format(
                    "\n#{}, the best so far, has no weights in the store: should it stay "
                    "the best, it is trained again by the new settings for the test data",
                    best))
        << "\ngo on with: " << resume << std::endl;
  return 0;
}

} // namespace clade
