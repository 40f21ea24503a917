// A checkpoint folder that came over the network is written below its folder, or refused.
#include "engine/evaluation/command/checkpoint_folder.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/scratch.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const scratch_folder around;
  const auto folder = around.path() / "a" / "b";
  fs::create_directories(folder);
  const auto done = unpack_folder(blob(bytes(text_of(data, size))), folder);
  const auto only = [](const fs::path& in) {
    return std::distance(fs::directory_iterator(in), fs::directory_iterator()) == 1;
  };
  hold(only(around.path()) && only(around.path() / "a"), "nothing is written outside");
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    hold(!entry.is_symlink(), "no link is made");
  return done ? 0 : refused(done);
}
