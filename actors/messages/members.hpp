#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

// The members of a plain struct, in the order in which it declares them, so that a message
// needs no list of them beside itself.

namespace clade {

/// Becomes whatever a member is; only to ask whether there is one more.
struct any_member {
  template<class T>
  operator T() const; ///< Never defined.
};

template<class T, class... Members>
consteval std::size_t count_members() {
  if constexpr (requires { T{Members()..., any_member()}; })
    return count_members<T, Members..., any_member>();
  else
    return sizeof...(Members);
}

/// Calls `f` with all members of an aggregate without base, and returns what it does.
template<class T, class F>
decltype(auto) with_members(T& of, F&& f) {
  constexpr auto count = count_members<std::remove_const_t<T>>();
  static_assert(count <= 9 || count == 13, "it needs a line below");
  // clang-format off
  if constexpr (count == 0) return f();
  else if constexpr (count == 1) { auto& [a] = of; return f(a); }
  else if constexpr (count == 2) { auto& [a, b] = of; return f(a, b); }
  else if constexpr (count == 3) { auto& [a, b, c] = of; return f(a, b, c); }
  else if constexpr (count == 4) { auto& [a, b, c, d] = of; return f(a, b, c, d); }
  else if constexpr (count == 5) { auto& [a, b, c, d, e] = of; return f(a, b, c, d, e); }
  else if constexpr (count == 6) { auto& [a, b, c, d, e, g] = of; return f(a, b, c, d, e, g); }
  else if constexpr (count == 7) { auto& [a, b, c, d, e, g, h] = of; return f(a, b, c, d, e, g, h); }
  else if constexpr (count == 8) { auto& [a, b, c, d, e, g, h, i] = of; return f(a, b, c, d, e, g, h, i); }
  else if constexpr (count == 9) { auto& [a, b, c, d, e, g, h, i, j] = of; return f(a, b, c, d, e, g, h, i, j); }
  else if constexpr (count == 13) { auto& [a, b, c, d, e, g, h, i, j, k, l, m, n] = of; return f(a, b, c, d, e, g, h, i, j, k, l, m, n); }
  // clang-format on
}

template<class T, class... All>
concept one_of = (std::same_as<T, All> || ...);

} // namespace clade
