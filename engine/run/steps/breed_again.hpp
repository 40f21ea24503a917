#pragma once

#include "engine/run/steps/verify.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace clade {

/// A birth that is to be made again.
struct rebirth {
  std::uint64_t sequence = 0;
  breeding order;
  candidate stored;
};

/// The result of an order.
struct reborn {
  std::uint64_t sequence = 0;
  candidate_id id = 0;
  /// The networks of the attempts before the stored one.
  std::vector<genome_hash> rejected;
  std::uint64_t parameters = 0; ///< The parameters of the network.
  std::optional<difference> unequal;
};

/// Breeds again in threads of its own; results are taken in the order of births.
class rechecker {
public:
  explicit rechecker(std::size_t threads);
  ~rechecker();
  rechecker(const rechecker&) = delete;
  rechecker& operator=(const rechecker&) = delete;

  void add(rebirth birth, const std::shared_ptr<const replay_rules>& rules);

  /// Returns the orders that are done, from the first on; waits if too much is under way,
  /// or, with `all`, until everything is done.
  [[nodiscard]] std::vector<reborn> take(bool all);

private:
  struct batch {
    std::shared_ptr<const replay_rules> rules;
    std::vector<rebirth> births;
    std::vector<reborn> results;
    bool done = false;
  };

  void send();
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<batch>> waiting_;   ///< For a thread.
  std::deque<std::shared_ptr<batch>> under_way_; ///< All that is not taken.
  bool over_ = false;
  std::shared_ptr<batch> filling_;
  std::vector<std::thread> threads_;
};

} // namespace clade
