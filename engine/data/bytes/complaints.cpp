#include "engine/data/bytes/complaints.hpp"

#include <fmt/format.h>

namespace clade {

void table_complaints::add(std::uint64_t line, of kind, std::size_t column,
                           std::string message) {
  const auto [at, fresh] = known_.try_emplace({column, kind}, lines_.size());
  if (!fresh)
    ++lines_[at->second].others;
  else
    lines_.push_back({.line = line, .kind = kind, .message = std::move(message)});
}

tl::unexpected<error> table_complaints::take() const {
  std::string text;
  std::map<of, std::size_t> said;
  std::size_t rest = 0;
  for (const complaint& c : lines_) {
    if (++said[c.kind] > most_of_a_kind) {
      ++rest;
      continue;
    }
    text +=
        fmt::format("{}{}:{}: {}", text.empty() ? "" : "\n", origin_, c.line, c.message);
    if (c.others > 0)
      text += fmt::format(" (and so in {}{}", c.others,
                          c.others == 1 ? " other row)" : " other rows)");
  }
  if (rest > 0)
    text += fmt::format("\n{}: {}{}", origin_, rest,
                        rest == 1 ? " more column has such errors"
                                  : " more columns have such errors");
  return fail(error_kind::invalid_input, std::move(text));
}

} // namespace clade
