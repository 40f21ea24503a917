// Options that are read from a program's help are words of it, and few.
#include "tests/fuzz/law.hpp"
#include "tools/jobs/arguments.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  const auto names = options_in(text);
  for (const auto& name : names) {
    hold(name.starts_with("--") && name.size() > 2, "an option begins with dashes");
    hold(text.find(name) != std::string::npos, "an option is in the text");
    hold(options_in(name).contains(name), "an option is one by itself");
  }
  hold(names.size() <= size / 3 + 1, "there are not more options than fit the text");
  return 0;
}
