#include "engine/program/write/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace clade {

std::span<const writer> writers() {
  static const auto all = [] {
    std::vector<writer> rows;
    for (const auto family :
         {plain_writers(), map_writers(), pool_writers(), norm_writers(),
          sequence_writers(), recurrent_writers(), cell_writers(), attention_writers(),
          time_writers(), table_writers(), random_convolution_writers()})
      rows.insert(rows.end(), family.begin(), family.end());
    return rows;
  }();
  return all;
}

const writer& writer_of(const program_step& s) {
  const auto found = std::ranges::find(writers(), s.computes, &writer::computes);
  if (found == writers().end()) {
    std::fprintf(stderr, "clade: no export can write %s\n", s.name.c_str());
    std::abort();
  }
  return *found;
}

std::string literal(double v) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  std::string text(digits.data(), end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string attribute_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::string script_tensor(const written_step& s, std::string_view role) {
  return s.has(role) ? "self." + attribute_name(s.tensor(role).name) : "None";
}

} // namespace clade
