// Any text is series and their targets or an error, and what is read to be predicted is read
// in the same way. Bytes choose the task, whether there are times, and how many columns tell
// series apart.
#include "engine/data/forecast/long_table.hpp"
#include "tests/fuzz/example_laws.hpp"

#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace {

void hold_series_laws(const long_table& table, const data_params& params) {
  const auto& set = table.set;
  hold(set.channels == table.channels.size() && set.channels > 0, "a channel has a name");
  hold(set.ends.size() == set.count() * set.channels, "a channel has an end");
  hold(table.labels.size() == set.count(), "a series has its labels");
  hold(set.ends.empty() || set.ends.back() == set.values.size(), "no value is lost");
  for (const auto& label : table.labels)
    hold(label.size() == params.forecast.series.size(), "a label has its texts");
  for (std::size_t i = 0; i < set.count(); ++i)
    for (std::size_t c = 0; c < set.channels; ++c) {
      hold(!set.channel(i, c).empty(), "a channel has a step");
      hold(set.channel(i, c).size() == set.channel(i, 0).size(), "channels are as long");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  data_params params;
  params.target = "y";
  params.header = "names";
  params.forecast.series = {"s"};
  std::string head = "y,x,s";
  if (input.flip())
    params.task = regression;
  if (input.flip()) {
    params.forecast.time = "t";
    head += ",t";
  }
  if (input.flip()) {
    params.forecast.series.push_back("r");
    head += ",r";
  }
  const auto text = head + "\n" + std::string(input.rest());
  const auto learnt = read_long_table(text, "x.csv", params);
  const auto known = read_long_table(text, "x.csv", params, long_rows::to_predict);
  if (!learnt)
    return refused(learnt);
  hold_series_laws(*learnt, params);
  hold(learnt->set.targets.size() == learnt->set.count(), "a series has its target");
  hold(known, "what can be learnt from can be predicted");
  hold_series_laws(*known, params);
  hold(known->set.count() == learnt->set.count() + learnt->without_target,
       "a series without a target is predicted, too");
  return 0;
}
