#pragma once

#include "engine/data/formats/numeric_array.hpp"
#include "tests/fuzz/law.hpp"

namespace clade::fuzz {

/// Checks the laws of an array that was parsed from these bytes, whatever its format.
inline void hold_array_laws(const numeric_array& a, std::string_view file) {
  hold(a.offset <= file.size() && a.values == file.substr(a.offset),
       "the values are the rest of the file");
  std::uint64_t count = 1;
  for (const std::int64_t size : a.sizes) {
    hold(size >= 0, "sizes are not negative");
    count = size == 0 || count == 0 ? 0 : count * static_cast<std::uint64_t>(size);
  }
  hold(count == a.count() && count * size_of(a.type) == a.values.size(),
       "the sizes multiply up to the values");
  double sum = 0;
  for (std::size_t i = 0; i < a.count(); ++i)
    sum += a[i];
  hold(a.count() == 0 || a.byte_of(a.count() - 1) + size_of(a.type) == file.size(),
       sum == 0 ? "the last value, of none but zeros, ends the file"
                : "the last value ends the file");
}

inline bool same_values(const numeric_array& a, const numeric_array& b) {
  return a.sizes == b.sizes && a.type == b.type && a.big_endian == b.big_endian
         && a.values == b.values;
}

} // namespace clade::fuzz
