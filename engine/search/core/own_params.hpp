#pragma once

#include "genome/base/own_keys.hpp"

#include <any>
#include <concepts>
#include <utility>
#include <vector>

namespace clade {

/// The parameters that one strategy alone reads, for several strategies. Each has a small
/// struct of its own beside its class, which no one else has to know:
///
///     struct islands_params { std::string topology = "ring"; ... };
///     void keys(own_keys& v, islands_params& p);
///
/// There is one value of each such type: its defaults, unless something else was set.
class own_params {
public:
  own_params() = default;
  /// An example is {.strategy = "islands", .own = islands_params{.topology = "star"}}.
  template<class Params>
  requires(!std::same_as<Params, own_params>) own_params(Params params) {
    all_.emplace_back(std::move(params));
  }

  template<class Params>
  [[nodiscard]] const Params& of() const {
    static const Params usual;
    for (const std::any& one : all_)
      if (const auto* found = std::any_cast<Params>(&one))
        return *found;
    return usual;
  }

  template<class Params>
  [[nodiscard]] Params& of() {
    for (std::any& one : all_)
      if (auto* found = std::any_cast<Params>(&one))
        return *found;
    return std::any_cast<Params&>(all_.emplace_back(Params{}));
  }

private:
  std::vector<std::any> all_;
};

} // namespace clade
