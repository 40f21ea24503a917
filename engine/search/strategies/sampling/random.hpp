#pragma once

#include "engine/search/bases/generations.hpp"

namespace clade {

/// Random search: every candidate is sampled, none has parents. The yardstick of all
/// others. Its generations are but a way of counting; the best `population` of all
/// candidates survive.
class random_search final : public generations {
public:
  using generations::generations;

private:
  void choose_parents(breeding&) const override {}
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }
};

} // namespace clade
