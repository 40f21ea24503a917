// Weights from bytes are written with bytes that give the same weights. An odd first byte
// puts the rest into an envelope whose checksum is right, as no mutation could find it.
#include "engine/training/weights/weights.hpp"
#include "genome/genes/hash.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  const bool wrapped = input.flip();
  bytes stored(input.rest());
  if (wrapped) {
    encoder out;
    out.array(4).text("clade-weights").natural(1).binary(stored).natural(hash64(stored));
    stored = out.take();
  }
  const auto tensors = decode_weights(stored);
  if (!tensors) {
    hold(tensors.error().kind == error_kind::corrupt,
         "bytes that are no weights are corrupt");
    return refused(tensors);
  }
  for (const auto& t : *tensors) {
    std::uint64_t count = 1;
    for (const auto s : t.shape)
      count *= static_cast<std::uint64_t>(s);
    hold(count == t.values.size(), "values fill their shape");
  }
  const bytes written = encode_weights(*tensors);
  const auto again = decode_weights(written);
  hold(again, "what is written can be read");
  hold(encode_weights(*again) == written,
       "what is read again is written with the same bytes");
  return 0;
}
