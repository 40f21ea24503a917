// Any text is series or an error, whatever its header promises; so are the examples made of
// them, and rows for a model. Three bytes choose the task, a header and a shape to be made.
#include "engine/data/formats/series_set.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "tests/fuzz/example_laws.hpp"

#include <array>
#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace {

constexpr std::array<std::string_view, 5> headers{
    "", "@problemName x\n@data\n", "@problemName x\n@classLabel true a b\n@data\n",
    "@relation x\n@attribute s relational\n@attribute s0 numeric\n@end s\n"
    "@attribute c {a,b}\n@data\n",
    "@relation x\n@attribute t1 numeric\n@attribute t2 numeric\n@attribute t3 numeric\n"
    "@attribute c numeric\n@data\n"};

void hold_set_laws(const series_set& set) {
  hold(set.count() > 0 && set.channels > 0, "there is a series with a channel");
  hold(set.ends.size() == set.count() * set.channels, "each has all channels");
  hold(set.ends.back() == set.values.size(), "a value belongs to a channel");
  hold(set.targets.empty() || set.targets.size() == set.count(),
       "all have a target or none");
  for (std::size_t i = 0; i < set.ends.size(); ++i)
    hold(set.ends[i] > (i == 0 ? 0 : set.ends[i - 1]), "no channel is empty");
  for (std::size_t i = 1; i < set.count(); ++i)
    hold(set.lines[i - 1] < set.lines[i], "series are in order");
  const auto lengths = lengths_of(set);
  hold(lengths.steps > 0 && lengths.steps <= lengths.longest,
       "a length is within bounds");
  hold(lengths.steps * set.ends.size() <= 8 * (set.values.size() + set.ends.size()),
       "memory is bounded by the file");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  data_params params;
  params.task = input.flip() ? regression : classification;
  const std::string header(headers[input.below(headers.size())]);
  const auto steps = static_cast<std::int64_t>(input.below(9));
  const auto set = parse_series(header + std::string(input.rest()), "x.ts");
  if (!set)
    return refused(set);
  hold_set_laws(*set);
  const auto channels = static_cast<std::int64_t>(set->channels);
  if (steps > 0)
    params.shape.sizes = {steps, channels};
  if (const auto made = series_examples(*set, "x.ts", params))
    hold_example_laws(*made, params);
  else
    refused(made);
  preprocessing how;
  how.task = params.task;
  how.shape.sizes = {steps + 1, channels};
  how.width = set->channels * static_cast<std::size_t>(steps + 1);
  how.classes = {"a", "b"};
  how.mean.assign(how.width, 1);
  how.deviation.assign(how.width, 2);
  const auto rows = new_series(*set, "x.ts", how);
  hold(rows, "series of as many channels are rows");
  const auto prepared = prepare(*rows, how);
  hold(prepared, "a gap can be filled");
  hold(prepared->size() == set->count() * how.width, "rows are whole");
  for (const float v : *prepared)
    hold(std::isfinite(v), "what networks take is finite");
  return 0;
}
