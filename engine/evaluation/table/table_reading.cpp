// All files are read row by row at once, and row i of each is about the same setting:
// columns of one name must say the same in all of them. The values of a row's parameters
// are kept for the index, and the columns that metrics name, each once. The first thing
// that is wrong ends it.
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/evaluation/table/table.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

namespace {

tl::unexpected<error> refuse(const std::string& place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

std::optional<double> real_of(std::string_view field) {
  const auto number = field_number(field);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::size_t> digit(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<std::size_t>(c - '0');
  if (c >= 'a' && c <= 'z')
    return static_cast<std::size_t>(c - 'a') + 10;
  return std::nullopt;
}

/// The number of the option that is written so.
std::optional<double> option_of(const choice_domain& d, std::string_view field) {
  const auto number = real_of(field);
  for (std::size_t i = 0; i < d.options.size(); ++i) {
    const value& v = d.options[i];
    const auto* text = std::get_if<std::string>(&v);
    const auto* whole = std::get_if<std::int64_t>(&v);
    const bool same = text != nullptr    ? *text == field
                      : !number          ? false
                      : whole != nullptr ? static_cast<double>(*whole) == *number
                                         : std::get<double>(v) == *number;
    if (same)
      return static_cast<double>(i);
  }
  return std::nullopt;
}

/// Returns the meaning of a parameter's field for the index; nothing if it is not of its
/// domain.
std::optional<double> meaning_of(const parameter& p, std::string_view field) {
  if (field.empty() && p.when)
    return std::numeric_limits<double>::quiet_NaN();
  if (const auto* choice = std::get_if<choice_domain>(&p.domain))
    return option_of(*choice, field);
  const auto number = real_of(field);
  if (!number)
    return std::nullopt;
  if (std::holds_alternative<real_domain>(p.domain))
    return contains(p, *number) ? number : std::nullopt;
  constexpr double most = 1e15;
  const bool whole = std::fabs(*number) <= most && std::floor(*number) == *number;
  return whole && contains(p, static_cast<std::int64_t>(*number)) ? number : std::nullopt;
}

struct open_file {
  std::string name;
  csv_rows rows;
  std::vector<std::string> header;
  csv_row row;

  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", name, row.line); }
};

/// A field of a row: which file's, and which of its fields.
struct location {
  std::size_t file = 0, field = 0;
};

} // namespace

class table_reading {
public:
  table_reading(table_description description, std::span<const table_source> files) {
    result_.description_ = std::move(description);
    std::string checksums = to_text(result_.description_.checksum);
    for (const auto& f : files) {
      files_.push_back({f.name, csv_rows(f.bytes), {}, {}});
      checksums += to_text(hash128(f.bytes));
    }
    result_.checksum_ = hash128(checksums);
  }

  expected<benchmark_table> read() {
    for (auto done : {&table_reading::read_headers, &table_reading::find_columns,
                      &table_reading::read_rows, &table_reading::finish})
      if (auto ok = (this->*done)(); !ok)
        return tl::unexpected(std::move(ok).error());
    return std::move(result_);
  }

private:
  expected<void> read_headers();
  expected<location> find_column(const std::string& column,
                                 const std::string& place) const;
  expected<void> find_columns();
  expected<void> find_shared();
  expected<bool> next_rows();
  expected<void> read_rows();
  expected<void> read_digits();
  expected<void> read_parameters();
  expected<void> read_values();
  expected<void> finish();
  expected<void> check_options() const;

  [[nodiscard]] const table_description& says() const { return result_.description_; }
  [[nodiscard]] std::string_view field(const location& l) const {
    return files_[l.file].row.fields[l.field];
  }

  benchmark_table result_;
  std::vector<open_file> files_;
  std::vector<location> parameters_;          ///< The place of each parameter's column.
  location digits_;                           ///< Or all of them.
  std::vector<location> values_;              ///< The place of each column of values.
  std::vector<std::vector<location>> shared_; ///< Columns of one name in several files.
  std::vector<double> settings_;              ///< Row by row.
  /// The line of each row, in the first file.
  std::vector<std::uint64_t> lines_;
};

expected<void> table_reading::read_headers() {
  if (files_.empty())
    return refuse(says().files_place, "names no file");
  for (auto& f : files_) {
    const auto more = f.rows.next(f.row);
    if (!more)
      return fail_in(f.place(), more.error());
    if (!*more)
      return refuse(f.name + ":1", "is empty: it has no header and no rows");
    f.header.assign(f.row.fields.begin(), f.row.fields.end());
  }
  return {};
}

expected<location> table_reading::find_column(const std::string& column,
                                              const std::string& place) const {
  std::vector<std::string> known;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const auto& header = files_[f].header;
    const auto count = std::ranges::count(header, column);
    if (count > 1)
      return refuse(files_[f].name + ":1",
                    fmt::format("names the column {} twice", in_quotes(column)));
    if (count == 1)
      return location{f, static_cast<std::size_t>(std::ranges::find(header, column)
                                                  - header.begin())};
    known.insert(known.end(), header.begin(), header.end());
  }
  const auto near = nearest(column, known);
  return refuse(
      place,
      (files_.size() == 1 ? files_[0].name + " has no column " : "no file has a column ")
          + in_quotes(column)
          + (near.empty() ? "; it has " + all_in_quotes(known)
                          : fmt::format("; did you mean \"{}\"?", near)));
}

expected<void> table_reading::find_columns() {
  const auto& d = says();
  if (!d.digits_column.empty()) {
    const auto found = find_column(d.digits_column, d.digits_place);
    if (!found)
      return tl::unexpected(found.error());
    digits_ = *found;
  } else {
    for (std::size_t p = 0; p < d.columns.size(); ++p) {
      const auto found = find_column(d.columns[p], d.places[p]);
      if (!found)
        return tl::unexpected(found.error());
      parameters_.push_back(*found);
    }
  }
  std::vector<std::string> names;
  for (const auto& m : d.metrics) {
    auto& of_metric = result_.columns_.emplace_back();
    for (const auto& seeds : m.columns) {
      auto& of_fidelity = of_metric.emplace_back();
      for (const auto& column : seeds) {
        const auto at = std::ranges::find(names, column) - names.begin();
        of_fidelity.push_back(static_cast<std::uint32_t>(at));
        if (at < std::ssize(names))
          continue;
        const auto found = find_column(column, m.place);
        if (!found)
          return tl::unexpected(found.error());
        names.push_back(column);
        values_.push_back(*found);
      }
    }
  }
  result_.width_ = values_.size();
  return find_shared();
}

expected<void> table_reading::find_shared() {
  for (std::size_t i = 0; i < files_[0].header.size(); ++i) {
    std::vector<location> places{{0, i}};
    for (std::size_t f = 1; f < files_.size(); ++f) {
      const auto& header = files_[f].header;
      const auto at = std::ranges::find(header, files_[0].header[i]);
      if (at != header.end())
        places.push_back({f, static_cast<std::size_t>(at - header.begin())});
    }
    if (places.size() > 1)
      shared_.push_back(std::move(places));
  }
  return {};
}

/// False at the end of all files.
expected<bool> table_reading::next_rows() {
  std::size_t ended = 0;
  for (auto& f : files_) {
    const auto more = f.rows.next(f.row);
    if (!more)
      return fail_in(f.place(), more.error());
    ended += *more ? 0 : 1;
    if (*more && f.row.fields.size() != f.header.size())
      return refuse(f.place(), fmt::format("has {} fields, but the header names {}",
                                           f.row.fields.size(), f.header.size()));
  }
  if (ended != 0 && ended != files_.size())
    for (const auto& f : files_)
      if (f.row.fields.empty())
        return refuse(f.place(), fmt::format("ends here, but {} has more rows, and row i "
                                             "of each file is about the same setting",
                                             files_[&f == &files_[0] ? 1 : 0].name));
  for (const auto& places : shared_)
    for (const auto& l : places)
      if (ended == 0 && field(l) != field(places[0]))
        return refuse(files_[l.file].place(),
                      fmt::format("{} is {}, but {} in {}: row i of each file must be "
                                  "about the same setting",
                                  in_quotes(files_[l.file].header[l.field]),
                                  in_quotes(field(l)), in_quotes(field(places[0])),
                                  files_[0].place()));
  return ended == 0;
}

expected<void> table_reading::read_digits() {
  const auto& d = says();
  const auto text = field(digits_);
  const auto wrong = [&](const std::string& message) {
    return refuse(files_[digits_.file].place(),
                  fmt::format("{} is {}: {}", d.digits_column, in_quotes(text), message));
  };
  if (text.size() != d.digits.size())
    return wrong(fmt::format("it must have {} digits", d.digits.size()));
  const std::size_t first = settings_.size();
  settings_.resize(first + d.digits.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto& p = d.space.rules.hyperparameters[d.digits[i]];
    const auto& options = std::get<choice_domain>(p.domain).options;
    const auto n = digit(text[i]);
    if (!n || *n >= options.size())
      return wrong(fmt::format("digit {} is none of the {} values of {}", i + 1,
                               options.size(), p.name));
    settings_[first + d.digits[i]] = static_cast<double>(*n);
  }
  return {};
}

expected<void> table_reading::read_parameters() {
  const auto& d = says();
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const auto text = field(parameters_[p]);
    const auto v = meaning_of(d.space.rules.hyperparameters[p], text);
    if (!v)
      return refuse(files_[parameters_[p].file].place(),
                    fmt::format("{} is {}, which {} does not allow", d.columns[p],
                                in_quotes(text), d.places[p]));
    settings_.push_back(*v);
  }
  return {};
}

expected<void> table_reading::read_values() {
  for (const auto& l : values_) {
    const auto text = field(l);
    if (field_blank_of_first_runs(text)) {
      result_.values_.push_back(benchmark_table::blank);
      continue;
    }
    const auto v = field_number(text);
    if (!v)
      return refuse(files_[l.file].place(),
                    fmt::format("{} is {}, which is no number",
                                files_[l.file].header[l.field], in_quotes(text)));
    result_.values_.push_back(
        std::isfinite(*v) ? *v : std::numeric_limits<double>::infinity());
  }
  return {};
}

expected<void> table_reading::read_rows() {
  for (;;) {
    const auto more = next_rows();
    if (!more)
      return tl::unexpected(more.error());
    if (!*more)
      break;
    lines_.push_back(files_[0].row.line);
    if (auto ok = parameters_.empty() ? read_digits() : read_parameters(); !ok)
      return ok;
    if (auto ok = read_values(); !ok)
      return ok;
    if (lines_.size() >= std::numeric_limits<std::uint32_t>::max() - 1)
      return refuse(files_[0].place(), "has more rows than 4,294,967,294");
  }
  if (lines_.empty())
    return refuse(files_[0].place(), "has a header and no rows");
  result_.rows_ = lines_.size();
  return {};
}

/// A value that never occurs is an error in the description: a search would try it in
/// vain.
expected<void> table_reading::check_options() const {
  const auto& d = says();
  const auto& parameters = d.space.rules.hyperparameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto* choice = std::get_if<choice_domain>(&parameters[p].domain);
    if (choice == nullptr)
      continue;
    std::vector<bool> occurs(choice->options.size());
    for (std::size_t i = p; i < settings_.size(); i += parameters.size())
      if (!std::isnan(settings_[i]))
        occurs[static_cast<std::size_t>(settings_[i])] = true;
    const auto missing = std::ranges::find(occurs, false);
    if (missing != occurs.end())
      return refuse(
          d.places[p],
          fmt::format(
              "{} may be {}, which no row of {} has", parameters[p].name,
              to_text(
                  choice->options[static_cast<std::size_t>(missing - occurs.begin())]),
              files_[0].name));
  }
  return {};
}

expected<void> table_reading::finish() {
  if (auto ok = check_options(); !ok)
    return ok;
  const auto& d = says();
  result_.index_ = table_index({.parameters = d.space.rules.hyperparameters,
                                .lookup = d.lookup,
                                .values = settings_});
  if (const auto twice = result_.index_.duplicate())
    return refuse(fmt::format("{}:{}", files_[0].name, lines_[twice->first]),
                  fmt::format("has the same setting as line {}", lines_[twice->second]));
  const auto truth = result_.metric(d.truth);
  if (!truth)
    return refuse(d.name, "has no metric " + in_quotes(d.truth));
  result_.truth_ = *truth;
  return {};
}

expected<benchmark_table> benchmark_table::read(table_description description,
                                                std::span<const table_source> files) {
  return table_reading(std::move(description), files).read();
}

expected<std::shared_ptr<const benchmark_table>>
load_table(table_description description) {
  std::vector<table_source> files;
  for (const auto& path : description.files) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      return fail_in(
          description.files_place,
          {error_kind::not_found,
           fmt::format("{} is not there{}", path.string(), description.advice)});
    auto read = read_file(path);
    if (!read)
      return tl::unexpected(std::move(read).error());
    files.push_back({path.string(), std::move(read->bytes)});
  }
  return benchmark_table::read(std::move(description), files)
      .map([](benchmark_table&& t) -> std::shared_ptr<const benchmark_table> {
        return std::make_shared<const benchmark_table>(std::move(t));
      });
}

} // namespace clade
