#pragma once

#include "genome/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// One of several things in a file, which a key names: the words for messages.
struct named_choice {
  std::string_view what; ///< "array"
  std::string_view key;  ///< "target_array"
};

/// Returns the name that is wanted, or without one the only one. There is a name at least.
[[nodiscard]] expected<std::string> choose_one(const std::vector<std::string>& names,
                                               const std::string& wanted,
                                               const named_choice& words);

/// Says that one of them is to be named.
[[nodiscard]] tl::unexpected<error> say_which(const std::vector<std::string>& names,
                                              const named_choice& words);

/// Says that none of them is called so, and which could be meant.
[[nodiscard]] tl::unexpected<error> none_is(const std::string& wanted,
                                            const std::vector<std::string>& names,
                                            const named_choice& words);

} // namespace clade
