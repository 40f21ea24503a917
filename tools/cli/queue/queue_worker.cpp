#include "tools/cli/queue/queue_worker.hpp"

#include "engine/queue/queue_state.hpp"
#include "tools/cli/base/interrupts.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/machine/descriptor_buffer.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/machine/slots.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/node/queue_node.hpp"

#include <fmt/format.h>

#include <iostream>

namespace clade {

expected<void> work_for_queue(queue_worker_options options) {
  if (auto ok = check_user_name(options.name); !ok)
    return fail(error_kind::invalid_input,
                fmt::format("--name: {}; that is this machine's", ok.error().message));
  if (options.folder.empty())
    options.folder = options.queue / "machines" / options.name;
  options.folder = std::filesystem::absolute(options.folder).lexically_normal();
  auto slots = parse_slots(options.slots);
  if (!slots)
    return tl::unexpected(slots.error());
  if (slots->empty())
    return fail(error_kind::invalid_input,
                "slots \"none\": a worker must have one at least");
  outlive_readers();
  const auto interrupted = watch_interrupts();
  block_interrupts();
  if (auto enough = check_process_limits(); !enough)
    return enough;
  std::error_code failed;
  std::filesystem::create_directories(options.folder, failed);
  if (failed)
    return fail(error_kind::io, fmt::format("{}: cannot be made: {}",
                                            options.folder.string(), failed.message()));
  // A program that runs here asks the server as this worker does.
  if (auto copied = copy_client_files(options.queue, options.folder); !copied)
    return copied;
  const auto count = slots->size();
  return queue_node::open({.queue = options.queue,
                           .name = options.name,
                           .processes = {.folder = options.folder,
                                         .program = own_program(),
                                         .slots = std::move(*slots),
                                         .run_grace = options.grace,
                                         .log_bytes = options.log_bytes,
                                         .warn = warning("clade worker")},
                           .version = CLADE_VERSION,
                           .idle = options.idle})
      .and_then([&](const std::unique_ptr<queue_node>& node) {
        return node->serve(interrupted,
                           {.joined =
                                [&] {
                                  std::cout << options.name
                                            << " runs what is in the queue on "
                                            << slots_in_words(count) << std::endl;
                                },
                            .troubled =
                                [](const std::string& why) {
                                  std::cerr
                                      << "clade worker: goes on, and asks again: " << why
                                      << std::endl;
                                }});
      });
}

} // namespace clade
