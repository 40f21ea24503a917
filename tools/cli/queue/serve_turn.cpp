#include "tools/cli/queue/serve_turn.hpp"

#include "tools/queue/client/queue_client.hpp"
#include "tools/queue/head/queue_replica.hpp"
#include "tools/queue/server/queue_standby.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <csignal>
#include <iostream>

namespace clade {

namespace {

/// Between two looks at the lease of another server.
constexpr auto look_pause = std::chrono::milliseconds(200);

/// Lets signals come for so long, or until one does.
void let_signals_come(std::chrono::milliseconds time) {
  const timespec until{.tv_sec = time.count() / 1000,
                       .tv_nsec = time.count() % 1000 * 1'000'000};
  sigset_t none;
  ::sigemptyset(&none);
  ::ppoll(nullptr, 0, &until, &none);
}

std::vector<queue_server_params> with_otherwise(const turn_params& params,
                                                std::vector<queue_server_params> places) {
  if (params.otherwise)
    places.push_back(*params.otherwise);
  return places;
}

expected<std::unique_ptr<standby_server>> listen(const turn_params& params,
                                                 queue_tokens& tokens) {
  const auto places = with_otherwise(params, params.places);
  return listen_at_one(places, [&](const queue_server_params& place) {
    return standby_server::listen(place, tokens);
  });
}

/// A queue that was taken over by a replica is not served a second time.
expected<void> check_nobody_serves(const std::filesystem::path& folder) {
  if (read_addresses(folder).size() < 2)
    return {};
  auto client = queue_client::open(folder, {.impatient = true});
  if (!client || !client->get("/v1/server", any_answer))
    return {};
  return fail(error_kind::conflict,
              fmt::format("{}: {} serves this queue already, from another folder; to "
                          "follow it: clade serve OTHER_FOLDER --follow {}",
                          folder.string(), client->address(), folder.string()));
}

expected<std::optional<serve_turn>> await_lease(const turn_params& params,
                                                queue_tokens& tokens,
                                                const std::function<bool()>& stop) {
  auto lease = queue_lease::open(
      {.at = {.file = params.folder / queue_file_name, .shared = params.shared}});
  if (!lease)
    return tl::unexpected(lease.error());
  std::unique_ptr<standby_server> waits;
  while (true) {
    const auto answer = lease->try_take();
    if (!answer)
      return tl::unexpected(answer.error());
    if (*answer == queue_lease::answer::taken)
      break;
    if (*answer == queue_lease::answer::held && !params.standby)
      return fail(error_kind::conflict,
                  fmt::format("{}: is served already, by {}", params.folder.string(),
                              lease->holder()));
    if (!waits && params.standby) {
      auto made = listen(params, tokens);
      if (!made)
        return tl::unexpected(made.error());
      waits = std::move(*made);
      if (auto ok = add_address({.folder = params.folder,
                                 .added = address_of(waits->params()),
                                 .certificate = waits->params().certificate});
          !ok)
        return tl::unexpected(ok.error());
      waits->say(
          {{"error", lease->holder() + " serves; this one waits"}, {"role", "waits"}});
      std::cout << "waits on " << address_of(waits->params()) << " for the end of "
                << lease->holder() << ", which serves " << params.folder.string()
                << std::endl;
    }
    let_signals_come(look_pause);
    if (stop())
      return std::nullopt;
  }
  auto store = queue_store::open(std::move(*lease));
  if (!store)
    return tl::unexpected(store.error());
  if (!waits) {
    if (auto alone = check_nobody_serves(params.folder); !alone)
      return tl::unexpected(alone.error());
    return serve_turn{.store = std::move(*store), .places = params.places};
  }
  return serve_turn{.store = std::move(*store),
                    .places = with_otherwise(params, {waits->params()})};
}

expected<std::optional<serve_turn>> follow(const turn_params& params,
                                           queue_tokens& tokens,
                                           const std::function<bool()>& stop) {
  auto store = queue_store::open(params.folder / queue_file_name);
  if (!store)
    return tl::unexpected(store.error());
  const auto waits = listen(params, tokens);
  if (!waits)
    return tl::unexpected(waits.error());
  const auto place = (*waits)->params();
  auto replica = queue_replica::open({.folder = params.folder,
                                      .source = params.follow,
                                      .address = address_of(place),
                                      .take_over = params.take_over,
                                      .half_life = params.half_life},
                                     std::move(*store));
  if (!replica)
    return tl::unexpected(replica.error());
  if (auto ok = add_address({.folder = params.folder,
                             .added = address_of(place),
                             .as_first = true,
                             .certificate = place.certificate});
      !ok)
    return tl::unexpected(ok.error());
  const auto told = [&](const ordered_json& answer, const std::string& line) {
    (*waits)->say(answer);
    if (!line.empty())
      std::cout << line << std::endl;
  };
  const auto due = replica->follow(
      [&] {
        let_signals_come({});
        return stop();
      },
      told);
  if (!due)
    return tl::unexpected(due.error());
  if (!*due)
    return std::nullopt;
  return serve_turn{.store = replica->take_store(),
                    .places = with_otherwise(params, {place})};
}

} // namespace

expected<std::optional<serve_turn>> await_turn(const turn_params& params,
                                               queue_tokens& tokens,
                                               const std::function<bool()>& stop) {
  return params.follow.empty() ? await_lease(params, tokens, stop)
                               : follow(params, tokens, stop);
}

} // namespace clade
