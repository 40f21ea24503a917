#pragma once

#include "engine/collectives/memory_links.hpp"
#include "engine/collectives/team.hpp"

namespace clade {

/// A team of one member, which does all shares one after another.
class lone_team final : public team {
public:
  explicit lone_team(std::size_t shares) : shares_(shares), link_(streams_.link(0)) {}

  [[nodiscard]] std::size_t shares() const override { return shares_; }
  [[nodiscard]] links& form() override { return *link_; }
  /// There is nobody to carry anything to.
  void carry_by(make_carrier) override {}
  void has_done(std::uint64_t) override {}

private:
  std::size_t shares_;
  memory_streams streams_{1};
  std::unique_ptr<links> link_;
};

} // namespace clade
