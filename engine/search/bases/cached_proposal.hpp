#pragma once

#include "engine/search/core/breeding.hpp"

#include <mutex>
#include <optional>

namespace clade {

/// A proposal whose making is dear and which knows but a part of what was born, as a
/// model with a limited history: the first attempt is its own, and where that network
/// turns out to be known, further ones are mutants of it, which cost nothing. A search
/// that has gone on for long around one place would otherwise have a model fitted eight
/// times for one candidate.
class cached_proposal final : public proposal {
public:
  explicit cached_proposal(std::shared_ptr<const proposal> dear)
      : dear_(std::move(dear)) {}

  [[nodiscard]] expected<offspring> make(const breeding_rules& rules,
                                         const breeding& order) const override;

private:
  std::shared_ptr<const proposal> dear_;
  mutable std::once_flag asked_;
  mutable std::optional<expected<offspring>> first_;
};

} // namespace clade
