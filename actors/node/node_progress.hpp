#pragma once

#include "actors/messages/protocol.hpp"
#include "actors/node/node_work.hpp"

namespace clade {

/// Tells the node of the epochs of a training; ends one that is over its time, or that
/// nobody wants any more.
class node_progress : public progress {
public:
  /// `own`: it is the assignment's own candidate that is trained, of which people hear,
  /// and not one that it starts from.
  node_progress(const node_work& work, node_actor node, const assignment& a, bool own);

  bool report(const epoch& e) override;
  [[nodiscard]] bool wanted() const override;
  [[nodiscard]] bool goes_on_later() const override { return work_.leaves(); }

private:
  const node_work& work_;
  node_actor node_;
  const assignment& assignment_;
  bool own_;
  node_work::clock::time_point start_ = node_work::clock::now();
  node_work::clock::time_point last_ = start_;
};

} // namespace clade
