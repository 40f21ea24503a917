#include "engine/report/view/wrong_examples_shown.hpp"

#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/csv_head.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {
namespace {

constexpr std::size_t most_bytes = 400;

std::vector<std::uint64_t> places_of(const test_evidence& evidence) {
  std::vector<std::uint64_t> places;
  for (const auto& m : evidence.classes)
    places.push_back(m.place);
  for (const auto& m : evidence.values)
    places.push_back(m.place);
  return places;
}

/// Cuts UTF-8 off between two characters.
std::string shortened_text(std::string text) {
  if (text.size() <= most_bytes)
    return text;
  return text.substr(0, utf8_cut(text, most_bytes)) + " ...";
}

/// The columns of texts by their places in a file.
std::vector<std::size_t> text_columns(const csv_head& head, const preprocessing& how) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < how.columns.size(); ++i) {
    const auto& c = how.columns[i];
    if (c.kind != encoding_kind::text)
      continue;
    // Columns without names are counted, and the target is none of them.
    const std::size_t number = i + (how.target_column && *how.target_column <= i ? 2 : 1);
    const auto name = c.name.empty() ? std::to_string(number) : c.name;
    if (const auto at = head.find_column(name, "text"))
      out.push_back(*at);
  }
  return out;
}

expected<std::map<std::uint64_t, std::string>>
texts_by_place(const array_source& from, const data_params& params,
               const preprocessing& how, const std::vector<std::uint64_t>& places) {
  const auto origin = from.file.string();
  return read_data_file(from.file, choice_of(from)).and_then([&](data_file&& read) {
    const auto written = params_of(read, params);
    // Rows of other tables are counted without the line of their names.
    const std::uint64_t before = read.table && read.table->named ? 1 : 0;
    return text_of_file(std::move(read.bytes), origin, written.encoding)
        .and_then(
            [&](const csv_text& text) -> expected<std::map<std::uint64_t, std::string>> {
              const auto form = find_form(text.text, written);
              auto rows = form.rows(text.text);
              csv_row r;
              const auto head = read_head(rows, r, origin, written, form);
              if (!head)
                return tl::unexpected(head.error());
              const auto columns = text_columns(*head, how);
              std::map<std::uint64_t, std::string> out;
              auto all = for_each_row(rows, r, *head, [&](const csv_row& row) {
                const auto place = row.line - before;
                if (std::ranges::find(places, place) == places.end())
                  return;
                std::string joined;
                for (const auto c : columns)
                  if (c < row.fields.size())
                    joined += (joined.empty() ? "" : " | ") + std::string(row.fields[c]);
                out.emplace(place, shortened_text(std::move(joined)));
              });
              if (!all)
                return tl::unexpected(all.error());
              return out;
            });
  });
}

} // namespace

std::vector<std::string> wrong_texts(const data_params& params, std::uint64_t seed,
                                     const test_evidence& evidence) {
  const auto places = places_of(evidence);
  if (!evidence.by_line || places.empty() || params.forecast.horizon > 0)
    return {};
  const auto how = fit_preprocessing(params, seed);
  if (!how || std::ranges::none_of(how->columns, [](const auto& c) {
        return c.kind == encoding_kind::text;
      }))
    return {};
  const auto tested = test_files(params);
  const auto from = tested ? *tested : training_files(params);
  const auto found = texts_by_place(from.examples, params, *how, places);
  if (!found)
    return {};
  std::vector<std::string> out;
  for (const auto place : places) {
    const auto at = found->find(place);
    out.push_back(at == found->end() ? std::string() : at->second);
  }
  return out;
}

std::vector<std::vector<std::vector<float>>> wrong_series(const data_set& data,
                                                          const test_evidence& evidence,
                                                          std::size_t most_channels,
                                                          std::size_t most_steps) {
  if (data.shape.layout() != layout::sequence)
    return {};
  const auto steps = static_cast<std::size_t>(data.shape.sizes[0]);
  const auto channels = static_cast<std::size_t>(data.shape.sizes[1]);
  const auto shown = std::min(channels, most_channels),
             drawn = std::min(steps, most_steps);
  std::vector<std::vector<std::vector<float>>> out;
  for (const auto place : places_of(evidence)) {
    auto& one = out.emplace_back();
    const auto at = std::ranges::find(data.test_places, place);
    if (at == data.test_places.end())
      continue;
    const std::size_t first =
        data.test[static_cast<std::size_t>(at - data.test_places.begin())] * steps
        * channels;
    for (std::size_t c = 0; c < shown; ++c) {
      auto& values = one.emplace_back();
      for (std::size_t k = 0; k < drawn; ++k)
        values.push_back(data.features[first + k * steps / drawn * channels + c]);
    }
  }
  return out;
}

} // namespace clade
