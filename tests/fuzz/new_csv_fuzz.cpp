// What is read of any text as new data is whole rows of numbers and known texts. Two
// bytes choose what the training data was like.
#include "engine/data/preprocessing.hpp"
#include "tests/fuzz/law.hpp"

#include <array>
#include <cmath>

using namespace clade;
using namespace clade::fuzz;

namespace {

preprocessing chosen(choices& input) {
  const auto kind = input.byte();
  preprocessing how;
  how.width = 3;
  if ((kind & 1) != 0)
    how.names = {"a", "b", "c"};
  if ((kind & 2) != 0)
    how.target = "t", how.target_column = kind >> 4 & 3;
  if ((kind & 4) != 0)
    how.categories = {{.column = 1, .name = "b", .values = {"x", "y"}}};
  if ((kind & 8) != 0)
    how.blanks.assign(how.expanded_width(), 1);
  how.mean.assign(how.expanded_width(), 0);
  how.deviation.assign(how.expanded_width(), 1);
  return how;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array headers{"auto", "names", "none", "counts"};
  choices input(data, size);
  const auto how = chosen(input);
  const std::string header = headers[input.below(headers.size())];
  const auto rows = parse_new_csv(input.rest(), "x.csv", header, how);
  if (!rows)
    return refused(rows);
  hold(rows->count > 0 && rows->lines.size() == rows->count, "each row has a line");
  hold(rows->values.size() == rows->count * how.width, "rows are whole");
  for (std::size_t i = 1; i < rows->count; ++i)
    hold(rows->lines[i - 1] < rows->lines[i], "rows are in order");
  const auto prepared = prepare(*rows, how);
  if (!prepared)
    return refused(prepared);
  hold(prepared->size() == rows->count * how.expanded_width(), "columns are whole");
  for (const float v : *prepared)
    hold(std::isfinite(v), "what networks take is finite");
  return 0;
}
