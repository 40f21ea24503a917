// Columns become inputs as column_encoding.hpp says; here that is said again in Python. A
// column's inputs are appended to `values`: those of the value, NaN for a blank, and then
// the one that says that it is blank. Only what the columns need is written.

#include "engine/export/source/row_source.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/export/source/python_source.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {
namespace {

// The grammar is at the top of engine/data/numbers/number_form.cpp. "@(" begins the
// parameters of a method, "@." stands before the name of one.
constexpr std::string_view number_functions = R"py(def number@(text, unit):
    # type: (str, str) -> float
    # Returns the number that a text holds, with its unit or without, or NaN for a blank.
    if text.lower() in BLANKS:
        return float("nan")
    for minus in @.minuses:
        text = text.replace(minus, "-")
    for space in @.spaces:
        text = text.replace(space, " ")
    for apostrophe in @.apostrophes:
        text = text.replace(apostrophe, "'")
    if unit != "":
        text = text.replace(unit, "")
    text = text.replace("- ", "-").strip()
    negative = False
    if text.startswith("(") and text.endswith(")"):
        negative = True
        text = text[1:-1].strip()
    elif text.endswith(".-") or text.endswith(",-"):
        text = text[:-2]
    elif text.endswith("-"):
        negative = True
        text = text[:-1].strip()
    value = float(@.plain(text))
    return -value if negative else value

def plain@(text):
    # type: (str) -> str
    # Returns the digits with a point before the decimals and nothing between the others.
    at = text.find("DECIMAL")
    whole = text if at < 0 else text[:at]
    decimals = "" if at < 0 else "." + text[at + 1:]
    for mark in ["GROUP", " ", "'"]:
        groups = whole.split(mark)
        last = len(groups) - 1
        if last > 0 and len(groups[last]) == 3:
            first = len(groups[0].replace("-", "").replace("+", ""))
            threes = 0
            twos = 0
            for group in groups[1:last]:
                threes = threes + (1 if len(group) == 3 else 0)
                twos = twos + (1 if len(group) == 2 and mark == "," else 0)
            if first > 0 and ((threes == last - 1 and first < 4) or (twos == last - 1 and twos > 0 and first < 3)):
                whole = "".join(groups)
    return whole + decimals

)py";

constexpr std::string_view yes_no_method = R"(def yes_no(self, text):
    # type: (str) -> float
    low = text.lower()
    if low in YES:
        return 1.0
    if low in NO:
        return 0.0
    return float("nan")

)";

constexpr std::string_view category_method = R"(def category(self, text, known, unknown):
    # type: (str, List[str], float) -> List[float]
    values : List[float] = []
    there = text in known
    for value in known:
        values.append((1.0 if value == text else 0.0) if there else unknown)
    return values

)";

// The grammar is at the top of engine/data/numbers/field_date.cpp.
constexpr std::string_view date_methods = R"(def digits(self, text, start, most):
    # type: (str, int, int) -> int
    # Returns where the digits that begin at `start`, at most so many, end.
    end = start
    while end < len(text) and end < start + most and text[end] in "0123456789":
        end = end + 1
    return end

def zone(self, text):
    # type: (str) -> float
    # Returns the seconds by which "+02:00" is ahead of UTC, or NaN.
    if text == "" or text == "Z":
        return 0.0
    hours = self.digits(text, 1, 2)
    minute = hours + 1 if hours < len(text) and text[hours] == ":" else hours
    end = self.digits(text, minute, 2)
    if text[0] not in "+-" or hours != 3 or end != minute + 2 or end != len(text):
        return float("nan")
    if int(text[1:3]) > 14 or int(text[minute:end]) > 59:
        return float("nan")
    ahead = 3600.0 * float(int(text[1:3])) + 60.0 * float(int(text[minute:end]))
    return -ahead if text[0] == "-" else ahead

def half(self, text, hour):
    # type: (str, int) -> float
    # Returns the seconds by which "am" or "pm" moves that hour, NaN if it has neither, and
    # infinity if there is no such hour in half a day.
    word = text.strip().lower()[:2]
    if word != "am" and word != "pm":
        return float("nan")
    if hour < 1 or hour > 12:
        return float("inf")
    return 43200.0 * ((1.0 if word == "pm" else 0.0) - (1.0 if hour == 12 else 0.0))

def seconds(self, text):
    # type: (str) -> float
    # Returns the seconds since midnight of "T12:30:15" or " 2:30 pm", or NaN.
    if text.startswith(", "):
        text = text[1:]
    if text == "":
        return 0.0
    if text[0] not in "T ":
        return float("nan")
    at = 1
    while text[0] == " " and at < len(text) and text[at] == " ":
        at = at + 1
    hour = self.digits(text, at, 2)
    if hour == at or hour >= len(text) or text[hour] != ":":
        return float("nan")
    end = self.digits(text, hour + 1, 2)
    if end != hour + 3 or int(text[at:hour]) > 23 or int(text[hour + 1:end]) > 59:
        return float("nan")
    seconds = 3600.0 * float(int(text[at:hour])) + 60.0 * float(int(text[hour + 1:end]))
    if end < len(text) and text[end] == ":":
        first = end + 1
        end = self.digits(text, first, 2)
        if end != first + 2 or int(text[first:end]) > 60:
            return float("nan")
        if end < len(text) and text[end] == ".":
            point = end
            end = self.digits(text, point + 1, len(text))
            if end == point + 1:
                return float("nan")
        seconds = seconds + float(text[first:end])
    half = self.half(text[end:], int(text[at:hour]))
    if half == float("inf"):
        return float("nan")
    if half < 86400.0:
        seconds = seconds + half
        while text[end] == " ":
            end = end + 1
        end = end + 2
    return seconds - self.zone(text[end:])

def month(self, text):
    # type: (str) -> int
    # Returns the number of the month of that name, or 0.
    low = text.lower()
    found = 0
    for at, names in enumerate(MONTHS):
        if low in names:
            found = at + 1
    return found

def numbered(self, text, order):
    # type: (str, int) -> str
    # Returns a date whose month is named with the numbers of year, month and day, and another as it is.
    parts : List[str] = []
    at = 0
    while len(parts) < 3:
        end = self.digits(text, at, len(text))
        if end == at:
            while end < len(text) and text[end] not in " -/.,:0123456789":
                end = end + 1
        if end == at:
            return text
        parts.append(text[at:end])
        at = end
        while len(parts) < 3 and at < len(text) and at < end + 2 and text[at] in " -/.,":
            at = at + 1
        if len(parts) < 3 and at == end:
            return text
    month = self.month(parts[0] if order == 2 else parts[1])
    day = parts[2] if order == 0 else (parts[0] if order == 1 else parts[1])
    year = parts[0] if order == 0 else parts[2]
    if month == 0 or self.digits(day, 0, 2) != len(day) or self.digits(year, 0, 4) != len(year):
        return text
    if len(year) == 2 and order != 0:
        year = ("20" if int(year) < 69 else "19") + year
    return year + "-" + str(month) + "-" + day + text[at:]

def days(self, text, order):
    # type: (str, int) -> float
    # Returns the days since 1970-01-01, or NaN. `order`: year first (0), day (1), or month (2).
    numbered = self.numbered(text, order)
    if numbered != text:
        text = numbered
        order = 0
    first = self.digits(text, 0, 4 if order == 0 else 2)
    if first == 0 or (order == 0 and first != 4) or first >= len(text) or text[first] not in "-/.":
        return float("nan")
    second = self.digits(text, first + 1, 2)
    if second == first + 1 or second >= len(text) or text[second] != text[first]:
        return float("nan")
    third = self.digits(text, second + 1, 2 if order == 0 else 4)
    length = third - second - 1
    if length == 0 or (order != 0 and length != 4 and (length != 2 or (text[first] != "/" and (text[first] != "." or second != 5)))):
        return float("nan")
    parts = [int(text[:first]), int(text[first + 1:second]), int(text[second + 1:third])]
    year = parts[0] if order == 0 else parts[2]
    month = parts[0] if order == 2 else parts[1]
    day = parts[2] if order == 0 else (parts[0] if order == 1 else parts[1])
    if order != 0 and length == 2:
        year = year + (2000 if year < 69 else 1900)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month < 1 or month > 12 or day < 1:
        return float("nan")
    if day > [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]:
        return float("nan")
    # Years that begin in March end with the day that a leap year has more.
    shifted = year - 1 if month < 3 else year
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (9 if month < 3 else -3)) + 2) // 5 + day - 1
    whole = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return (86400.0 * float(whole) + self.seconds(text[third:])) / 86400.0

def date(self, days, periods):
    # type: (float, List[float]) -> List[float]
    values = [days]
    for period in periods:
        angle = 6.283185307179586 * @fmod(days, period) / period
        values.append(@sin(angle))
        values.append(@cos(angle))
    return values

)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

bool has(const preprocessing& how, encoding_kind kind) {
  return std::ranges::find(how.columns, kind, &column_encoding::kind)
         != how.columns.end();
}

std::string values_name(std::size_t column) {
  return fmt::format("values{}", column);
}

class row_lines {
public:
  explicit row_lines(const preprocessing& how) : how_(how) {}

  std::string write() {
    line(0, "def encode(self, rows):");
    line(1, "# type: (List[List[str]]) -> Tensor");
    line(1, "encoded : List[List[float]] = []");
    line(1, "for row in rows:");
    line(2, fmt::format("assert len(row) == {}, \"a row has as many texts as the "
                        "training data has columns\"",
                        how_.width));
    line(2, "row = [text.strip() for text in row]");
    line(2, "values : List[float] = []");
    for (std::size_t c = 0; c < how_.columns.size(); ++c)
      column(c);
    line(2, "encoded.append(values)");
    line(1, "out = torch.tensor(encoded, dtype=DOUBLE)");
    // A list becomes a tensor by way of 32 bits.
    if (const auto places = exact_inputs(); !places.empty()) {
      line(1, "for i in range(len(encoded)):");
      line(2, fmt::format("for j in [{}]:", places));
      line(3, "out[i, j].fill_(encoded[i][j])");
    }
    line(1, "return out");
    return text_ + "\n";
  }

private:
  void line(int indent, const std::string& s) {
    text_ +=
        fmt::format("{}{}\n", std::string(static_cast<std::size_t>(indent) * 4, ' '), s);
  }

  /// The places of inputs of which 32 bits do not hold all: numbers and dates.
  std::string exact_inputs() const {
    std::vector<std::string> places;
    std::size_t first = 0;
    for (const auto& c : how_.columns) {
      for (std::size_t i = first; i < first + c.inputs(); ++i)
        if (c.kind == encoding_kind::number || c.kind == encoding_kind::date)
          places.push_back(std::to_string(i));
      first += c.inputs();
    }
    return joined(places, ", ");
  }

  void column(std::size_t i) {
    const auto& c = how_.columns[i];
    const auto field = fmt::format("row[{}]", i);
    const auto comment = c.name.empty() ? "" : "  # " + python_literal(c.name);
    switch (c.kind) {
    case encoding_kind::ignore:
      return;
    case encoding_kind::number:
      line(2, fmt::format("values.append(self.number({}, {})){}", field,
                          python_literal(c.unit), comment));
      break;
    case encoding_kind::yes_no:
      line(2, fmt::format("values.append(self.yes_no({})){}", field, comment));
      break;
    case encoding_kind::text:
      if (c.scores.count() > 0)
        line(2, fmt::format("values.extend(self.scores({0}, self.score_places{1}, "
                            "self.score_weights{1}, self.coefficients{1}, "
                            "self.intercepts{1}))",
                            field, i));
      line(2, fmt::format(
                  "values.extend(self.text({0}, self.places{1}, self.weights{1})){2}",
                  field, i, comment));
      if (c.blank_input)
        line(2, fmt::format("values.append(1.0 if {}.lower() in {} else 0.0)", field,
                            python_literal(blank_texts())));
      return;
    case encoding_kind::category:
      return category(c, "self." + values_name(i), field, comment);
    case encoding_kind::date:
      line(2,
           fmt::format("values.extend(self.date(self.days({}, {}), [365.2425, 7.0{}])){}",
                       field, static_cast<int>(c.order), c.time_of_day ? ", 1.0" : "",
                       comment));
      break;
    }
    if (c.blank_input)
      line(2, "values.append(1.0 if values[-1] != values[-1] else 0.0)");
  }

  void category(const column_encoding& c, const std::string& known,
                const std::string& field, const std::string& comment) {
    line(2, fmt::format("values.extend(self.category({}, {}, {})){}", field, known,
                        c.blank_input ? "0.0" : "float(\"nan\")", comment));
    if (c.blank_input)
      line(2, fmt::format("values.append(0.0 if {} in {} else 1.0)", field, known));
  }

  const preprocessing& how_;
  std::string text_;
};

} // namespace

bool takes_texts(const preprocessing& how) {
  return std::ranges::any_of(how.columns, [](const column_encoding& c) {
    return c.kind != encoding_kind::number;
  });
}

std::vector<known_values> known_values_of(const preprocessing& how) {
  std::vector<known_values> out;
  for (std::size_t c = 0; c < how.columns.size(); ++c)
    if (how.columns[c].kind == encoding_kind::category)
      out.push_back({values_name(c), how.columns[c].values});
  if (has(how, encoding_kind::number))
    for (const auto& marks : number_marks())
      out.push_back(marks);
  return out;
}

const std::vector<known_values>& number_marks() {
  static const std::vector<std::string> minuses{"\xE2\x88\x92", "\xE2\x80\x93"};
  static const std::vector<std::string> spaces{"\xC2\xA0", "\xE2\x80\x87", "\xE2\x80\x89",
                                               "\xE2\x80\xAF"};
  static const std::vector<std::string> apostrophes{"\xE2\x80\x99"};
  static const std::vector<known_values> all{
      {"minuses", minuses}, {"spaces", spaces}, {"apostrophes", apostrophes}};
  return all;
}

std::string number_source(const preprocessing& how, bool methods) {
  auto text = std::string(number_functions);
  text = replaced(text, "BLANKS", python_literal(blank_texts()));
  text = replaced(text, "DECIMAL", std::string(1, how.decimal));
  text = replaced(text, "GROUP", how.decimal == '.' ? "," : ".");
  text = replaced(text, "@(", methods ? "(self, " : "(");
  if (!methods)
    for (const auto& marks : number_marks())
      text = replaced(text, "@." + marks.name, python_literal(marks.values));
  return replaced(text, "@.", methods ? "self." : "");
}

/// A list of the names of each month.
std::string month_literal() {
  return fmt::format("[{}]", joined(month_names, ", ", [](const month_words& words) {
                       std::vector<std::string> names;
                       for (const auto name : words)
                         if (!name.empty())
                           names.emplace_back(name);
                       return python_literal(names);
                     }));
}

std::string row_methods(const preprocessing& how, const row_dialect& dialect) {
  std::string text;
  if (has(how, encoding_kind::number))
    text += number_source(how, /*methods=*/true);
  if (has(how, encoding_kind::yes_no))
    text +=
        replaced(replaced(std::string(yes_no_method), "YES", python_literal(yes_words())),
                 "NO:", python_literal(no_words()) + ":");
  if (has(how, encoding_kind::category))
    text += category_method;
  if (has(how, encoding_kind::date)) {
    auto dates = replaced(std::string(date_methods), "@sin", dialect.sine);
    dates = replaced(replaced(dates, "@cos", dialect.cosine), "@fmod", dialect.remainder);
    text += replaced(dates, "MONTHS", month_literal());
  }
  return text + replaced(row_lines(how).write(), "DOUBLE", dialect.doubles);
}

std::vector<std::int64_t> input_order(const preprocessing& how) {
  if (std::ranges::none_of(how.columns, &column_encoding::blank_input))
    return {};
  std::vector<std::int64_t> order;
  for (std::size_t c = 0; c < how.columns.size(); ++c) {
    order.push_back(static_cast<std::int64_t>(c));
    if (how.columns[c].blank_input)
      order.push_back(static_cast<std::int64_t>(how.width + c));
  }
  return order;
}

bool takes_doubles(const preprocessing& how) {
  return !how.mean.empty();
}

tensor_shape sizes_in_file(const preprocessing& how) {
  if (!how.columns.empty() || how.target_column)
    return {{static_cast<std::int64_t>(how.width)}};
  return how.sizes.sizes.empty() ? in_file(how.shape, how.layout) : how.sizes;
}

std::vector<std::string> yes_words() {
  return {yes_spellings.begin(), yes_spellings.end()};
}

std::vector<std::string> no_words() {
  return {no_spellings.begin(), no_spellings.end()};
}

std::vector<std::string> blank_texts() {
  std::vector<std::string> all{""};
  all.insert(all.end(), blank_spellings.begin(), blank_spellings.end());
  all.emplace_back(blank_number_spelling);
  return all;
}

std::vector<double> fills_of(const preprocessing& how) {
  // Whoever reads a model refuses one whose parts do not fit.
  if (!how.blanks.empty() && how.blanks.size() != how.inputs())
    return how.blanks;
  auto fills = how.fills();
  if (std::ranges::all_of(fills, [](double fill) { return std::isnan(fill); }))
    fills.clear();
  return fills;
}

} // namespace clade
