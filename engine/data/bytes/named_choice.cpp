#include "engine/data/bytes/named_choice.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

expected<std::string> choose_one(const std::vector<std::string>& names,
                                 const std::string& wanted, const named_choice& words) {
  if (wanted.empty() && names.size() == 1)
    return names.front();
  if (wanted.empty())
    return say_which(names, words);
  if (std::ranges::find(names, wanted) == names.end())
    return none_is(wanted, names, words);
  return wanted;
}

tl::unexpected<error> say_which(const std::vector<std::string>& names,
                                const named_choice& words) {
  return fail(error_kind::invalid_input,
              fmt::format("say which {} is meant, {} = {}; there are {}", words.what,
                          words.key, in_quotes(names.front()), all_in_quotes(names)));
}

tl::unexpected<error> none_is(const std::string& wanted,
                              const std::vector<std::string>& names,
                              const named_choice& words) {
  const auto near = nearest(wanted, names);
  return fail(
      error_kind::invalid_input,
      fmt::format("no {} is {}, the {}; {}", words.what, in_quotes(wanted), words.key,
                  near.empty() ? "there are " + all_in_quotes(names)
                               : fmt::format("did you mean {}?", in_quotes(near))));
}

} // namespace clade
