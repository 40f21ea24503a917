#pragma once

#include "actors/transport/team/team_door.hpp"
#include "actors/transport/team/team_greeting.hpp"

#include <poll.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

namespace clade {

struct team_forming_params {
  const team_formation& formation;
  const key_files& keys;
  int listener = -1, interrupt = -1;
  std::chrono::steady_clock::time_point until;
};

/// One call of `team_door::link`.
class team_forming {
public:
  explicit team_forming(const team_forming_params& params);

  [[nodiscard]] std::unique_ptr<team_links> run();

private:
  using clock = std::chrono::steady_clock;

  /// A member and the connection to it.
  struct seat {
    std::string name;
    /// The greeting to send, if it is this side that connects.
    std::optional<team_greeting> greeting;
    std::optional<tls_stream> stream; ///< Linked.
    std::uint64_t arrival = 0;        ///< The number of what is linked.
    clock::time_point next_try;
    std::chrono::milliseconds pause{0};
    std::size_t tries = 0;
    std::string trouble = "it has not come";
  };

  /// Somebody who connected to this side, perhaps a stranger.
  struct arrival {
    ~arrival();

    team_greeting greeting;
    std::string from;
    clock::time_point since;
    std::uint64_t number = 0;
    std::optional<std::size_t> member; ///< Once it has said so.
  };

  [[nodiscard]] bool connects_to(std::size_t member) const { return member < own_.own; }
  [[nodiscard]] bool all_linked() const;
  [[nodiscard]] bool waits_for_arrivals() const;
  [[nodiscard]] std::unique_ptr<team_links> linked();

  void connect_due();
  void connect(std::size_t member);
  void go_on(std::size_t member);
  void hear(std::size_t member);
  void try_again(std::size_t member, const std::string& why);

  void accept_new();
  /// Returns whether it is still here.
  [[nodiscard]] bool go_on(arrival& a);
  [[nodiscard]] bool hear(arrival& a);
  void let_in(arrival& a);
  void refuse(const arrival& a, const std::string& why);
  void drop_late();

  void wait(int most_ms);
  [[nodiscard]] int patience() const;
  void look_at_members();
  void look_at_arrivals();
  [[noreturn]] void give_up() const;
  [[noreturn]] static void has_other_contents(const std::string& name);

  team_forming_params params_;
  team_hello own_;
  std::vector<seat> seats_;
  std::list<arrival> arrivals_; ///< The oldest first.
  std::uint64_t arrived_ = 0;
  std::string refused_; ///< The last one, with the reason.
  std::vector<pollfd> polled_;
};

} // namespace clade
