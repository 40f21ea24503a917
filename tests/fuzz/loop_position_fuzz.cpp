// A position that a member of a team was sent, from any bytes, is written with bytes that
// give the same position.
#include "engine/training/weights/loop_position.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes sent(reinterpret_cast<const char*>(data), size);
  const auto position = decode_loop_position(sent);
  if (!position) {
    hold(position.error().kind == error_kind::corrupt,
         "bytes that are no position are corrupt");
    return refused(position);
  }
  const bytes written = encode(*position);
  const auto again = decode_loop_position(written);
  hold(again, "what is written can be read");
  hold(encode(*again) == written, "what is read again is written with the same bytes");
  return 0;
}
