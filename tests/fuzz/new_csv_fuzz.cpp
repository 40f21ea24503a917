// Any text that is read as new data is whole rows of numbers and known texts. Two bytes
// choose what the training data was like.
#include "engine/data/reading/preprocessing.hpp"
#include "tests/fuzz/law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace clade;
using namespace clade::fuzz;

namespace {

preprocessing chosen(choices& input) {
  const auto kind = input.byte();
  preprocessing how;
  how.width = 3;
  how.columns.resize(how.width);
  if ((kind & 1) != 0)
    how.columns[0].name = "a", how.columns[1].name = "b", how.columns[2].name = "c";
  if ((kind & 2) != 0)
    how.target = "t", how.target_column = kind >> 4 & 3;
  if ((kind & 4) != 0)
    how.columns[1].kind = encoding_kind::category, how.columns[1].values = {"x", "y"};
  how.columns[2].kind = static_cast<encoding_kind>(input.below(6));
  auto& last = how.columns[2];
  if (last.kind == encoding_kind::category)
    last.values = {"1", "none"};
  else if (last.kind != encoding_kind::ignore)
    last.blank_input = (kind & 64) != 0;
  if (last.kind == encoding_kind::text) {
    last.values = {"#ab ", "a b", "b"};
    last.weights = {1, 2, 3};
  }
  last.time_of_day = (kind & 128) != 0;
  if (last.kind == encoding_kind::text && (kind & 8) != 0) {
    // Texts alone, which may be lines of a file.
    how.columns = {last};
    how.columns.front().name.clear();
    how.width = 1;
    if (how.target_column)
      how.target_column = *how.target_column & 1;
  }
  how.task = (kind & 64) == 0   ? classification
             : (kind & 16) != 0 ? multilabel
                                : regression;
  // Without a target's column, several numbers.
  if (how.task != regression || !how.target_column)
    how.classes = {"x", "7"};
  if (how.task == regression && !how.classes.empty())
    how.target_scales.resize(how.classes.size());
  if ((kind & 8) != 0)
    how.blanks.assign(how.inputs(), 1);
  how.mean.assign(how.inputs(), 0);
  how.deviation.assign(how.inputs(), 1);
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
  if (rows->targets) {
    const auto each =
        how.task.has_classes() ? 1U : std::max<std::size_t>(1, how.classes.size());
    hold(rows->targets->values.size() == rows->count * each, "each row has its targets");
    std::uint64_t none = 0;
    for (const double v : rows->targets->values) {
      none += std::isnan(v) ? 1 : 0;
      hold(std::isnan(v)
               || (how.task == regression ? std::isfinite(v) : v == 0 || v == 1),
           "a target is a value or a known class");
    }
    hold(none == each * (rows->targets->blanks + rows->targets->unknown),
         "missing ones count");
  }
  hold(rows->values.size() == rows->count * how.inputs(), "rows are whole");
  for (std::size_t i = 1; i < rows->count; ++i)
    hold(rows->lines[i - 1] < rows->lines[i], "rows are in order");
  const auto prepared = prepare(*rows, how);
  if (!prepared)
    return refused(prepared);
  hold(prepared->size() == rows->count * how.inputs(), "columns are whole");
  for (const float v : *prepared)
    hold(std::isfinite(v), "what networks take is finite");
  return 0;
}
