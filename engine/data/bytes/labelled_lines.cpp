#include "engine/data/bytes/labelled_lines.hpp"

#include "engine/data/bytes/csv_rows.hpp"

#include <set>

namespace clade {

bool begins_with_labels(std::string_view text) {
  constexpr std::size_t least_lines = 10, most_labels = 60, least_words = 3;
  csv_rows rows(text, {.first_blank = true});
  csv_row r;
  std::set<std::string_view> labels;
  std::size_t lines = 0, sentences = 0;
  for (; labels.size() <= most_labels && rows.next(r).value_or(false); ++lines) {
    labels.insert(r.fields[0]);
    std::size_t words = 0;
    bool word = false; // Whether the last character was a letter.
    for (const char c : r.fields[1]) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                          || static_cast<unsigned char>(c) >= 0x80;
      words += letter && !word ? 1 : 0;
      word = letter || (word && c == '\'');
    }
    sentences += words >= least_words ? 1 : 0;
  }
  return lines >= least_lines && labels.size() >= 2 && labels.size() <= most_labels
         && 5 * labels.size() <= lines && 10 * sentences >= 9 * lines;
}

} // namespace clade
