// A member of a .npz archive has the name it was asked for, and is the same when it is
// asked for by that name.
#include "engine/data/formats/npz.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto archive = text_of(data, size);
  const auto named = read_npz(archive, "x", "array");
  if (named)
    hold(named->name == "x" || named->name == "x.npy", "it is the one asked for");
  const auto only = read_npz(archive, "", "array");
  if (!only)
    return refused(only);
  const auto again = read_npz(archive, only->name, "array");
  hold(again.has_value() && again->bytes == only->bytes, "its name finds it");
  return 0;
}
