#include "engine/data/complaints.hpp"

#include <algorithm>

namespace clade {

void table_complaints::add(std::uint64_t line, of kind, std::size_t column,
                           std::string message) {
  const auto [at, fresh] = known_.try_emplace({column, kind}, lines_.size());
  if (!fresh)
    ++lines_[at->second].others;
  else
    lines_.push_back({.line = line, .message = std::move(message)});
}

tl::unexpected<error> table_complaints::take() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines_.size(), most_lines); ++i) {
    const auto& c = lines_[i];
    text +=
        (i == 0 ? "" : "\n") + origin_ + ":" + std::to_string(c.line) + ": " + c.message;
    if (c.others > 0)
      text += " (and so in " + std::to_string(c.others)
              + (c.others == 1 ? " other row)" : " other rows)");
  }
  if (lines_.size() > most_lines)
    text += "\n" + origin_ + ": " + std::to_string(lines_.size() - most_lines)
            + " more columns have such errors";
  return fail(error_kind::invalid_input, std::move(text));
}

} // namespace clade
