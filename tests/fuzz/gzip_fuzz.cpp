// A text that zlib wrote, in one member or two, is unzipped to what it was; cut off
// anywhere, it is refused; and any bytes are unzipped or refused. A first byte of 0 asks
// for the last.
#include "engine/data/formats/file_bytes.hpp"
#include "tests/fuzz/law.hpp"

#include <zlib.h>

using namespace clade;
using namespace clade::fuzz;

namespace {

std::string zipped(std::string_view text, int level) {
  z_stream z{};
  hold(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
       "zlib begins");
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  hold(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib ends");
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  const int level = static_cast<int>(input.below(10));
  if (level == 0) {
    const auto unzipped = gunzip(input.rest());
    if (!unzipped)
      return refused(unzipped);
    // A bit takes 1,032 times its room at most (deflate's own limit).
    hold(unzipped->size() <= 1032 * input.rest().size(), "the work is bounded");
    return 0;
  }
  const std::size_t cut = input.byte();
  const auto text = input.rest();
  const auto half = text.size() / 2;
  const std::string two =
      zipped(text.substr(0, half), level) + zipped(text.substr(half), level);
  const auto whole = gunzip(two);
  hold(whole, "what was zipped can be unzipped");
  hold(*whole == text, "and is what it was");
  if (const auto part = gunzip(std::string_view(two).substr(0, two.size() * cut / 256));
      part)
    hold(*part == text.substr(0, half), "a member that is cut off is refused");
  else
    refused(part);
  return 0;
}
