// Any text is series or an error, and any series are windows whose rows can be read, or an
// error. Bytes choose the horizon, the season, and which columns there are.
#include "engine/data/forecast/history.hpp"
#include "engine/data/forecast/window_table.hpp"
#include "engine/data/numbers/exact_numbers.hpp"
#include "engine/data/tables/csv.hpp"
#include "tests/fuzz/example_laws.hpp"

#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace {

void hold_history_laws(const history& from) {
  hold(!from.series.empty(), "there is a series");
  hold(from.season >= 1, "a season is a step at least");
  for (const auto& series : from.series) {
    hold(!series.values.empty(), "a series has a value");
    hold(!std::isnan(series.values.back()), "the last value is one");
    hold(series.lines.size() == series.values.size(), "a step has its line");
    hold(series.fields.size() == from.covariates.size(), "a column has its fields");
    for (const auto& fields : series.fields)
      hold(fields.size() >= series.values.size(), "a step has its fields");
  }
}

void hold_window_laws(const window_table& windows, std::size_t rows) {
  hold(windows.lines.size() == rows, "a window has its line");
  const auto read = parse_csv(windows.text, "x", params_of(windows));
  hold(read, "windows are a table");
  hold(read->count == rows, "no window is lost");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  data_params params;
  params.target = "y";
  params.task = regression;
  params.header = "names";
  params.forecast.horizon = 1 + input.below(4);
  params.forecast.season = input.below(5);
  std::string head = "y";
  if (input.flip()) {
    params.forecast.time = "t";
    head += ",t";
  }
  if (input.flip()) {
    params.forecast.series = {"s"};
    head += ",s";
  }
  if (input.flip()) {
    params.forecast.known = {"x"};
    head += ",x";
  }
  const auto from =
      read_history(head + "\n" + std::string(input.rest()), "x.csv", params);
  if (!from)
    return refused(from);
  hold_history_laws(*from);
  if (const auto windows = training_windows(*from, params))
    hold_window_laws(*windows, windows->parts.size());
  else
    refused(windows);
  const auto next = new_windows(*from, params, {});
  if (!next)
    return refused(next);
  hold(next->rows.size() == next->lines.size(), "a forecast has its line");
  for (const auto& row : next->rows) {
    hold(std::isfinite(row.offset) && std::isfinite(row.scale) && row.scale > 0,
         "a forecast is a finite number");
    hold(row.labels.size() == next->names.size(), "a forecast has its labels");
  }
  return 0;
}
