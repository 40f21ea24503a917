#include "actors/node/node_progress.hpp"

#include "genome/codec/codec.hpp"

namespace clade {

namespace {

using namespace std::chrono_literals;

// People see epochs pass ten times a second at most.
constexpr auto report_interval = 100ms;

} // namespace

node_progress::node_progress(const node_work& work, node_actor node,
                             const watched_training& watched)
    : work_(work),
      node_(std::move(node)),
      watched_(watched) {}

bool node_progress::report(const epoch& e) {
  const auto now = node_work::clock::now();
  const auto limits = work_.budget(watched_.said);
  if (watched_.own && now - last_ >= report_interval) {
    last_ = now;
    encoder passed;
    encode(passed, e);
    caf::anon_send(node_, epoch_passed{.node = 0,
                                       .id = watched_.id,
                                       .of = limits.epochs,
                                       .passed = passed.take()});
  }
  return (limits.time.count() == 0 || now - start_ < limits.time) && wanted();
}

bool node_progress::wanted() const {
  return !work_.dropped(watched_.lease);
}

} // namespace clade
