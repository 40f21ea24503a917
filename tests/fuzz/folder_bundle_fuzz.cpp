// A folder of examples that came over the network is written below its folder, and is then
// packed to the same bytes, or refused.
#include "engine/data/folders/folder_bundle.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/scratch.hpp"

#include <set>
#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const scratch_folder around;
  const std::string bundle(text_of(data, size));
  write_text(around.path() / "bundle", bundle);
  const auto into = around.path() / "a";
  const auto done = unpack_bundle(around.path() / "bundle", into);
  for (const auto& entry : fs::directory_iterator(around.path()))
    hold(entry.path() == into || entry.path().filename() == "bundle",
         "nothing is written outside");
  if (!done)
    return refused(done);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(into)) {
    hold(!entry.is_symlink(), "no link is made");
    if (entry.is_regular_file())
      files.push_back(entry.path().lexically_relative(into));
  }
  const auto again = folder_bundle::of(into, files);
  hold(again, "what was unpacked can be packed");
  hold(again->size() <= bundle.size(), "no byte is added");
  hold(again->read(0, bundle.size()), "and read");
  return 0;
}
