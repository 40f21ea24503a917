#include "tests/tools/views/made_up_feed.hpp"
#include "tools/views/web/web_server.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

// A page of a run that is made up, for tests in a browser: prints the address, then does
// what standard input says, a line each, until that ends:
//
//   evolve N        N more generations
//   show WORD       "live", "finished", "stopped", "replay"
//   lose SLOT       its process ended
//   team SLOT       all train #1 together, and wait for this one
//
// usage: made_up_web POPULATION GENERATIONS

namespace {

using namespace clade;

constexpr int slots = 4;

std::string slot_name(int number) {
  return "here/cpu:" + std::to_string(number);
}

slots_view a_team(const std::string& slow) {
  slots_view all;
  for (int i = 0; i < slots; ++i) {
    const auto name = slot_name(i);
    all.slots.push_back({.name = name,
                         .ready = true,
                         .training = 1,
                         .epoch = 1,
                         .epochs = 2,
                         .team = {.member = static_cast<std::uint32_t>(i) + 1,
                                  .members = slots,
                                  .steps = 12.5,
                                  .bytes = 3.1e6,
                                  .waits = name == slow ? 0.02 : 0.6}});
  }
  find_awaited(all, slots, 0);
  return all;
}

void obey(test::made_up_feed& f, const std::string& line) {
  std::istringstream words(line);
  std::string order, what;
  words >> order >> what;
  if (order == "evolve")
    f.evolve(std::stoul(what));
  else if (order == "show")
    f.show(parse_feed_state(what).value());
  else if (order == "team")
    f.announce(a_team(what));
  else if (order == "lose")
    f.happen(
        slot_changed{.slot = what, .joined = false, .reason = "its node process ended"});
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  test::made_up_feed f(std::stoul(argv[1]));
  for (int i = 0; i < slots; ++i)
    f.happen(slot_changed{.slot = slot_name(i), .joined = true, .reason = {}});
  f.evolve(std::stoul(argv[2]));
  if (!f.wait(std::chrono::milliseconds(0))) // A record from before is no news.
    return 1;
  std::stop_source stop;
  std::jthread orders([&] {
    for (std::string line; std::getline(std::cin, line);)
      obey(f, line);
    stop.request_stop();
  });
  const auto served =
      serve_web(f, {.port = 0,
                    .ready = [](const std::string& a) { std::cout << a << std::endl; },
                    .stop = stop.get_token()});
  if (!served)
    std::cerr << served.error().message << "\n";
  return served ? 0 : 1;
}
