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
//
// usage: made_up_web POPULATION GENERATIONS

namespace {

using namespace clade;

void obey(test::made_up_feed& f, const std::string& line) {
  std::istringstream words(line);
  std::string order, what;
  words >> order >> what;
  if (order == "evolve")
    f.evolve(std::stoul(what));
  else if (order == "show")
    f.show(what);
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
  for (int i = 0; i < 4; ++i)
    f.happen(slot_changed{
        .slot = "here/cpu:" + std::to_string(i), .joined = true, .reason = {}});
  f.evolve(std::stoul(argv[2]));
  if (!f.wait(std::chrono::milliseconds(0))) // What happened before is no news.
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
