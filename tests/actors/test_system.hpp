#pragma once

#include "actors/messages/protocol.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <chrono>

namespace clade::test {

/// An actor system in the test's own thread: actors run when `settle` is called and the
/// clock moves when `pass` is called.
class test_system {
public:
  test_system() : config_(), system_(config_) {}

  caf::actor_system& operator*() { return system_; }
  caf::actor_system* operator->() { return &system_; }

  /// Until every mailbox is empty.
  void settle() { scheduler().run(); }

  /// Lets that much time pass, and what is due happen.
  void pass(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds step{100};
    for (; time.count() > 0; time -= step) {
      scheduler().advance_time(step);
      settle();
    }
  }

private:
  struct test_config : caf::actor_system_config {
    test_config() { set("scheduler.policy", caf::atom("testing")); }
  };

  caf::scheduler::test_coordinator& scheduler() {
    return static_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  }

  test_config config_;
  caf::actor_system system_;
};

} // namespace clade::test
