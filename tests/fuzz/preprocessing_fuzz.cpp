// A model's description of its columns is decoded to something that new rows can be read
// by, or is refused; what was decoded is written and read again as it is.
#include "engine/data/reading/preprocessing.hpp"
#include "tests/fuzz/law.hpp"

#include <string>
#include <vector>

using namespace clade;
using namespace clade::fuzz;

namespace {

bytes written(const preprocessing& how) {
  encoder out;
  encode(out, how);
  return out.take();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes raw(text_of(data, size));
  decoder in(raw);
  const auto how = decode_preprocessing(in);
  if (auto whole = in.finish(); !whole)
    return refused(whole);
  const auto once = written(how);
  decoder again(once);
  const auto same = decode_preprocessing(again);
  hold(again.finish(), "what is written is read");
  hold(written(same) == once, "what is read again is the same");
  if (how.width > 4096 || how.inputs() > 4096)
    return 0;
  const raw_rows rows{.origin = "x",
                      .count = 1,
                      .values = std::vector<float>(how.inputs(), 0),
                      .lines = {}};
  const auto prepared = prepare(rows, how);
  hold(prepared, "a row without a blank is prepared");
  hold(prepared->size() == how.inputs(), "it is whole");
  std::string line;
  for (std::size_t i = 0; i < how.width; ++i)
    line += i == 0 ? "0" : ",0";
  if (const auto read = parse_new_csv(line, "x.csv", "none", how); !read)
    return refused(read);
  return 0;
}
