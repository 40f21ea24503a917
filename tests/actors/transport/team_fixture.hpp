#pragma once

#include "actors/transport/team/team_door.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/eventfd.h>

#include <functional>
#include <future>

namespace clade::test {

using namespace std::chrono_literals;

/// The time for which a test that works never waits.
inline constexpr auto long_enough = 60s;

/// The files of one bundle, of one run.
class run_keys {
public:
  run_keys() { REQUIRE(make_run_keys(folder_.path())); }

  [[nodiscard]] key_files of(const std::string& bundle) const {
    const auto b = folder_.path() / bundle;
    return {
        .authority = b / "ca.pem", .certificate = b / "cert.pem", .key = b / "key.pem"};
  }

private:
  scratch_folder folder_;
};

/// A descriptor that becomes readable.
class signal_fd {
public:
  [[nodiscard]] int get() const { return event_.get(); }
  void set() const { ::eventfd_write(event_.get(), 1); }

private:
  unique_fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

/// Doors of processes of this machine, which are threads here.
class doors {
public:
  explicit doors(std::size_t count) : doors(std::vector(count, keys().of("worker"))) {}

  /// Each with keys of its own.
  explicit doors(const std::vector<key_files>& keys) {
    for (const auto& k : keys) {
      auto door = team_door::open(k, "127.0.0.1");
      REQUIRE(door);
      all_.push_back(std::move(*door));
    }
  }

  /// Returns the formation as `member` is told of it.
  [[nodiscard]] team_formation formation(std::size_t member,
                                         std::uint64_t generation = 1) const {
    team_formation f{.task = 7, .generation = generation, .checksum = 5, .own = member};
    for (const auto& d : all_)
      f.members.push_back({.host = "127.0.0.1", .port = d->port()});
    return f;
  }

  std::unique_ptr<team_links> link(const team_formation& f, int interrupt = -1,
                                   std::chrono::milliseconds most = long_enough) {
    return all_[f.own]->link(f, interrupt, most);
  }

  std::future<std::unique_ptr<team_links>> start(const team_formation& f,
                                                 int interrupt = -1) {
    return std::async(std::launch::async, [=, this] { return link(f, interrupt); });
  }

  std::vector<std::unique_ptr<team_links>> link_all(int interrupt = -1) {
    std::vector<std::future<std::unique_ptr<team_links>>> started;
    for (std::size_t i = 0; i < all_.size(); ++i)
      started.push_back(start(formation(i), interrupt));
    std::vector<std::unique_ptr<team_links>> made;
    for (auto& s : started)
      made.push_back(s.get());
    return made;
  }

  [[nodiscard]] std::uint16_t port(std::size_t member) const {
    return all_[member]->port();
  }

  static const run_keys& keys() {
    static const run_keys all;
    return all;
  }

private:
  std::vector<std::unique_ptr<team_door>> all_;
};

/// The sentence of the exception.
inline std::string why_broken(const std::function<void()>& work) {
  try {
    work();
  } catch (const team_broken& e) {
    return e.what();
  }
  return "it is not broken";
}

/// Does `work` with all links, each in a thread of its own, and returns why each broke.
inline std::vector<std::string>
in_threads(const std::vector<std::unique_ptr<team_links>>& all,
           const std::function<void(team_links&)>& work) {
  std::vector<std::future<std::string>> started;
  for (const auto& l : all)
    if (l)
      started.push_back(
          std::async(std::launch::async, [&] { return why_broken([&] { work(*l); }); }));
  std::vector<std::string> said;
  for (auto& s : started)
    said.push_back(s.get());
  return said;
}

} // namespace clade::test
