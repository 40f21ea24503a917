#pragma once

#include "genome/described_key.hpp"

#include <any>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace clade {

/// Visits the keys in [evolution] of what one strategy alone reads. Each comes with its
/// value and with the usual one: a resolved experiment has only those that are not as
/// usual, so that a new key changes no text that was stored before.
class own_key_visitor {
public:
  virtual ~own_key_visitor() = default;

  virtual void key(described_key k, std::size_t& v, std::size_t usual) = 0;
  virtual void key(described_key k, double& v, double usual) = 0;
  virtual void key(described_key k, std::string& v, const std::string& usual) = 0;
  /// A list of names of strategies.
  virtual void strategies(described_key k, std::vector<std::string>& v,
                          const std::vector<std::string>& usual) = 0;
};

/// The parameters that one strategy alone reads, for several strategies. Each has a small
/// struct of its own beside its class, which no one else has to know:
///
///     struct islands_params { std::string topology = "ring"; ... };
///     void keys(own_key_visitor& v, islands_params& p);
///
/// Of each such type there is one: its defaults, unless something else was set.
class own_params {
public:
  own_params() = default;
  /// As in {.strategy = "islands", .own = islands_params{.topology = "star"}}.
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
