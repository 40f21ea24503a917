#pragma once

#include "tests/support/scratch.hpp"
#include "tools/queue/head/queue_head.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace clade::test {

using namespace std::chrono_literals;

inline std::vector<slot> cores(unsigned count) {
  std::vector<slot> slots;
  for (unsigned i = 0; i < count; ++i)
    slots.push_back({.name = "cpu:" + std::to_string(i), .device = "cpu"});
  return slots;
}

inline queue_submission shell(const std::string& script,
                              const std::string& user = "ann") {
  return {.user = user, .words = {"/bin/sh", "-c", script}, .directory = "/tmp"};
}

/// A head with its thread, which ends with it.
class served_queue {
public:
  explicit served_queue(const std::filesystem::path& folder, unsigned slots = 2,
                        const queue_rules& rules = {},
                        std::chrono::milliseconds lease = 60s,
                        std::function<expected<void>()> room = {},
                        std::function<expected<disk_space>()> space = {}) {
    auto opened = queue_head::open({.processes = {.folder = folder,
                                                  .program = "/bin/false",
                                                  .slots = cores(slots),
                                                  .run_grace = 100ms,
                                                  .grace = 100ms,
                                                  .space = std::move(space)},
                                    .rules = rules,
                                    .lease = lease,
                                    .room = std::move(room)});
    REQUIRE(opened);
    head_ = std::move(*opened);
    thread_ =
        std::thread([this] { ended_ = head_->serve([this] { return stop_.load(); }); });
  }

  ~served_queue() {
    stop_ = true;
    head_->wake();
    thread_.join();
    CHECK(ended_);
  }

  queue_head* operator->() const { return head_.get(); }
  queue_head& operator*() const { return *head_; }

  entry_id submit(queue_submission s) const {
    const auto ids = head_->submit({std::move(s)});
    REQUIRE(ids);
    return ids->front();
  }

  /// The entry, once it is as `is` says; it waits for less than the head does without news.
  template<class Is>
  queue_entry await(entry_id id, Is is) const {
    const auto until = std::chrono::steady_clock::now() + 30s;
    for (std::uint64_t seen = UINT64_MAX; std::chrono::steady_clock::now() < until;) {
      seen = head_->await_change(seen, 1s);
      const auto e = head_->look([&](const queue_state& s) { return s.entries.at(id); });
      if (is(e))
        return e;
    }
    FAIL("waited in vain for #" << id);
    return {};
  }

  queue_entry await_end(entry_id id) const {
    return await(id, [](const queue_entry& e) { return is_over(e.state); });
  }

  void await_running(entry_id id) const {
    await(id, [](const queue_entry& e) { return e.state == entry_state::running; });
  }

private:
  std::unique_ptr<queue_head> head_;
  std::atomic<bool> stop_ = false;
  expected<void> ended_;
  std::thread thread_;
};

} // namespace clade::test
