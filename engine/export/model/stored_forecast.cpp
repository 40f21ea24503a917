// forecast = [ horizon, season, time: text, [series: text...], [known: text...],
//              [[column: text, kind: text]...], [categories: text...], [ignore: text...],
//              step: text, [target: text...] ]
//              (without the last two in files of its first days)

#include "engine/export/model/stored_forecast.hpp"

#include <string>
#include <vector>

namespace clade {
namespace {

void write(encoder& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const auto& text : texts)
    out.text(text);
}

std::vector<std::string> read_texts(decoder& in) {
  return decode_list(in, [](decoder& d) { return std::string(d.text()); });
}

} // namespace

bytes encode_forecast(const data_params& params) {
  const auto& forecast = params.forecast;
  encoder out;
  out.array(10).natural(forecast.horizon).natural(forecast.season).text(forecast.time);
  write(out, forecast.series);
  write(out, forecast.known);
  out.array(params.columns.size());
  for (const auto& c : params.columns)
    out.array(2).text(c.column).text(to_text(c.kind));
  write(out, params.categories);
  write(out, params.ignore);
  out.text(forecast.step);
  write(out, params.targets);
  return out.take();
}

expected<void> decode_forecast(const bytes& raw, data_params& params) {
  decoder in(raw);
  constexpr std::size_t parts = 10, parts_at_first = 8;
  const auto size = in.array();
  if (size != parts && size != parts_at_first)
    in.fail("a forecast of other parts");
  auto& forecast = params.forecast;
  forecast.horizon = in.natural();
  forecast.season = in.natural();
  forecast.time = in.text();
  forecast.series = read_texts(in);
  forecast.known = read_texts(in);
  params.columns = decode_list(in, [](decoder& d) {
    d.array(2);
    column_choice c{.column = d.text()};
    if (const auto kind = parse_encoding_kind(d.text()))
      c.kind = *kind;
    else
      d.fail("a column of no kind");
    return c;
  });
  params.categories = read_texts(in);
  params.ignore = read_texts(in);
  if (size == parts) {
    forecast.step = in.text();
    params.targets = read_texts(in);
  }
  if (auto whole = in.finish(); !whole)
    return whole;
  // A file must be named for the rest to be judged.
  auto judged = params;
  judged.file = "data";
  return validate(judged);
}

} // namespace clade
