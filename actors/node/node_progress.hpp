#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/node_work.hpp"

namespace clade {

/// A training that a node's progress is of.
struct watched_training {
  candidate_id id = 0;
  std::uint64_t lease = 0;
  budget said{.epochs = 0}; ///< It means the same as in `node_work::budget`.
  /// It is the task's own candidate that is trained, of which people hear, and not one that
  /// it starts from.
  bool own = false;
};

/// Tells the node of the epochs of a training; ends one that is over its time, or that
/// nobody wants any more.
class node_progress : public progress {
public:
  node_progress(const node_work& work, node_actor node, const watched_training& watched);

  bool report(const epoch& e) override;
  [[nodiscard]] bool wanted() const override;
  [[nodiscard]] bool goes_on_later() const override { return work_.leaves(); }

private:
  const node_work& work_;
  node_actor node_;
  watched_training watched_;
  node_work::clock::time_point start_ = node_work::clock::now();
  node_work::clock::time_point last_ = start_;
};

} // namespace clade
