#pragma once

#include "engine/run/records/record.hpp"

#include <map>
#include <set>

namespace clade {

/// An annotation is what people wrote on a candidate, or on the run: a note, which the
/// next one replaces, and tags.
struct annotation {
  std::string note{};
  std::string who{};        ///< Who wrote the note.
  std::int64_t unix_ms = 0; ///< When.
  std::set<std::string> tags{};

  friend bool operator==(const annotation&, const annotation&) = default;

  static constexpr std::size_t longest_note = 2000, longest_tag = 40, most_tags = 20;
};

/// Annotations by candidate; 0 is the run itself. None is empty.
using annotations = std::map<candidate_id, annotation>;

/// Whether `i` writes a note, gives a tag or takes one away: it changes nothing of the
/// search, and may come when that is over.
[[nodiscard]] bool annotates(const instruction& i);

/// Whether `i`, which annotates, can be recorded of a run of `born` candidates with what
/// is `known`: its note or tag is short and printable, and its candidate there.
/// `invalid_input` says what is wrong.
[[nodiscard]] expected<void>
check_annotation(const instruction& i, const annotations& known, std::uint64_t born);

/// Folds `told` in, which was recorded at `unix_ms`. Orders that do not annotate change
/// nothing.
void annotate(annotations& known, const operator_command& told, std::int64_t unix_ms);

/// The tags with a blank between them.
[[nodiscard]] std::string tags_text(const annotation& a);

} // namespace clade
