// Labels of a batch are the classes of its examples. A record is 3 KB of pixels behind a
// label or two, so an input says only labels and the first pixels; or, where its first
// byte is 2, what the batch is.
#include "engine/data/formats/cifar.hpp"
#include "tests/fuzz/example_laws.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

constexpr std::size_t pixels = 3072;

/// A record for each `labels` + 1 bytes: labels, then one pixel and what follows from it.
std::string batch(choices& input, std::size_t labels) {
  std::string out;
  while (!input.empty() && out.size() < 6 * pixels) {
    for (std::size_t i = 0; i < labels; ++i)
      out += static_cast<char>(input.byte());
    const unsigned first = input.byte();
    for (std::size_t i = 0; i < pixels; ++i)
      out += static_cast<char>(first + i);
  }
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  const std::size_t kind = input.below(3);
  const std::string file = kind == 2 ? std::string(input.rest()) : batch(input, kind + 1);
  for (const char* target : {"last", "1"}) {
    const data_params params{.target = target};
    const auto parsed = parse_cifar(file, "batch.bin", params);
    if (!parsed) {
      refused(parsed);
      continue;
    }
    hold_example_laws(*parsed, params);
    for (std::size_t i = 0; i < parsed->count; ++i)
      hold(parsed->classes[parsed->labels[i]]
               == std::to_string(static_cast<unsigned char>(file[parsed->places[i]])),
           "a class is named after the byte at its place");
    hold(parsed->features[parsed->features.size() - 1]
             == static_cast<unsigned char>(file.back()),
         "the last pixel is the file's last byte");
  }
  return 0;
}
