// An array in a .npy file is what the file's own words say: written anew in the words of
// numpy, it is read as the same.
#include "engine/data/formats/npy_header.hpp"
#include "engine/data/formats/text_array.hpp"
#include "tests/fuzz/array_laws.hpp"

#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace {

const char* name_of(number_type t) {
  constexpr const char* names[] = {"u1", "i1", "u2", "i2", "u4",
                                   "i4", "u8", "i8", "f4", "f8"};
  return names[static_cast<std::size_t>(t)];
}

std::string npy(const numeric_array& a) {
  std::string header = std::string("{'descr': '") + (a.big_endian ? ">" : "<")
                       + name_of(a.type) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : a.sizes)
    header += std::to_string(size) + ", ";
  header += "), }\n";
  const auto length = header.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255)
         + static_cast<char>(length >> 8) + header + std::string(a.values);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = text_of(data, size);
  if (const auto texts = parse_npy_texts(file)) {
    hold(holds_texts(file), "what parses as texts looks like it");
    hold(texts->texts.size() <= file.size(), "each text has bytes of its own");
  }
  const auto a = parse_npy(file);
  if (!a)
    return refused(a);
  hold(looks_like_npy(file), "what parses looks like it");
  hold_array_laws(*a, file);
  const std::string written = npy(*a);
  const auto again = parse_npy(written);
  hold(again, "what is written can be read");
  hold(same_values(*a, *again), "what is read again is the same");
  return 0;
}
