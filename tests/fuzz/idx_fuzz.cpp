// An array in an IDX file is what the file's header says: written anew, the header has
// the same bytes.
#include "tests/fuzz/array_laws.hpp"

#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace {

std::string idx_header(const numeric_array& a) {
  constexpr unsigned char codes[] = {8, 9, 0, 11, 0, 12, 0, 0, 13, 14};
  std::string out{0, 0, static_cast<char>(codes[static_cast<std::size_t>(a.type)]),
                  static_cast<char>(a.sizes.size())};
  for (const std::int64_t size : a.sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      out += static_cast<char>(size >> shift & 255);
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = text_of(data, size);
  const auto a = parse_idx(file);
  if (!a)
    return refused(a);
  hold(looks_like_idx(file), "what parses looks like it");
  hold_array_laws(*a, file);
  hold(idx_header(*a) == file.substr(0, a->offset), "the header is what it says");
  return 0;
}
