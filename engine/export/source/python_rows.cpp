#include "engine/export/source/python_rows.hpp"

#include "engine/export/source/python_source.hpp"
#include "engine/export/source/row_source.hpp"
#include "engine/export/source/text_source.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

constexpr std::string_view read_rows_function = R"(
def read_rows(file):
    """The rows of a CSV like the training data's, with or without the target: texts in the order of the columns.

    `file` is its name, or "-" for standard input. Where it names its columns, they may stand in any order, with
    others among them, and behind lines of titles. Where it names none, columns are taken by their place.
    """
    data = sys.stdin.buffer.read() if str(file) == "-" else pathlib.Path(file).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = decoded(data)
LINES    delimiter = max(",;\t|", key=text.split("\n", 1)[0].count)
    first = text.split("\n", 1)[0].strip().strip('"')
    if len(first) == 5 and first[:4].lower() == "sep=":
        delimiter, text = first[4], text.split("\n", 1)[-1]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows = [[field.strip() for field in line] for line in lines if line]
ALONE    used = [COLUMNS[i] for i in USED]
    at = next((i for i, row in enumerate(rows[:21]) if all(used) and all(name in row for name in used)), 0)
    rows = rows[at:]
    if rows and counts_rows(rows[0], len(rows) - 1):
        del rows[0]
    if rows and any(name and name in rows[0] for name in COLUMNS):
        missing = [name for i, name in enumerate(COLUMNS) if i in USED and name not in rows[0]]
        if missing:
            raise ValueError(f"{file}: columns of the training data are missing: {', '.join(missing)}")
        places = [rows[0].index(name) if name in rows[0] else None for name in COLUMNS]
        return [["" if at is None else row[at] for at in places] for row in rows[1:]]
    if rows and TARGET_COLUMN is not None and len(rows[0]) > len(COLUMNS):
        rows = [row[:TARGET_COLUMN] + row[TARGET_COLUMN + 1:] for row in rows]
    if rows and NUMBERS and not any(is_number(rows[0][at], UNITS[at]) for at in NUMBERS):
        del rows[0]  # It names the columns.
    return rows


def counts_rows(line, rows):
    """Whether a first line is as scikit-learn's files have it: "150,4,setosa,versicolor,virginica"."""
    return len(line) > 3 and line[0] == str(rows) and not any(is_number(field, "") for field in line[2:])


def decoded(data):
    """The text that the bytes of a CSV hold: UTF-8, of which a few bytes may be none, UTF-16, or else Latin-1."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    text = data.decode("utf-8-sig", "surrogateescape")
    bad = sum("\udc80" <= letter <= "\udcff" for letter in text)
    if 10 * bad > sum(letter > "\x7f" for letter in text) - bad:
        return latin(data)
    return "".join(latin(bytes([ord(c) - 0xdc00])) if "\udc80" <= c <= "\udcff" else c for c in text) if bad else text


def latin(data):
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_number(text, unit):
    try:
        return number(text, unit) is not None
    except ValueError:
        return False

)";

/// Reads texts without a name from lines of a target, a blank and a text.
constexpr std::string_view read_labelled = R"(
    def fits(target):
        return FITS

    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if 2 * sum(TARGET_COLUMN == 0 and fits(line.split(None, 1)[0]) for line in lines) >= len(lines):
        return [(line.split(None, 1) + [""])[1:2] for line in lines]
)";

/// Takes lines that are no CSV for such texts.
constexpr std::string_view read_lines =
    R"(    fit = sum(len(row) == 2 and TARGET_COLUMN is not None and fits(row[TARGET_COLUMN]) for row in rows)
    if any(len(row) != 1 for row in rows) and 2 * fit < len(rows):
        return [[line] for line in lines]
)";

constexpr std::string_view encode_texts = R"(
def encode(rows):
    """Rows in the order of COLUMNS as a tensor: texts as a CSV has them, or numbers; None is a blank."""
    return Rows().encode([[text_of(value) for value in row] for row in rows])


def text_of(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)POINT

)";

constexpr std::string_view encode_numbers = R"(
def encode(rows):
    """Rows in the order of COLUMNS, or a tensor or array of them, as a tensor; None is a blank."""
    if isinstance(rows, (list, tuple)):
        rows = [[math.nan if value is None else number(str(value), unit) if isinstance(value, str) else float(value)
                 for value, unit in zip(row, UNITS)] for row in rows]
    return torch.as_tensor(rows, dtype=TYPE)

)";

constexpr std::string_view encode_arrays = R"(
def encode(rows):
    """Examples as their file has them, or a tensor or array of them, as a tensor."""
    return torch.as_tensor(rows, dtype=TYPE)

)";

/// The text with `by` in the place of `mark`, which stands in it once.
std::string replaced(std::string_view text, std::string_view mark, std::string_view by) {
  std::string out(text);
  out.replace(out.find(mark), mark.size(), by);
  return out;
}

/// `read_rows` of a module.
std::string rows_function(const preprocessing& how) {
  const bool lines = how.takes_text_lines();
  const auto* const fits = how.task.has_classes()  ? "target in CLASSES"
                           : how.task.has_labels() ? "target in LABELS"
                                                   : "is_number(target, \"\")";
  return replaced(replaced(read_rows_function, "LINES",
                           lines ? replaced(read_labelled, "FITS", fits) : ""),
                  "ALONE", lines ? read_lines : "");
}

} // namespace

bool is_table(const preprocessing& how) {
  return !how.columns.empty() || how.target_column;
}

std::string table_constants(const preprocessing& how) {
  std::vector<std::string> names, units;
  std::string numbers, used;
  const auto append = [](std::string& list, std::size_t c) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", c);
  };
  for (std::size_t c = 0; c < how.width; ++c) {
    names.push_back(how.column(c).name);
    units.push_back(how.column(c).unit);
    if (how.column(c).kind == encoding_kind::number)
      append(numbers, c);
    if (how.column(c).kind != encoding_kind::ignore)
      append(used, c);
  }
  return fmt::format(
      "COLUMNS = {}  # of a row, in this order\nNUMBERS = [{}]  # those of them that are "
      "numbers\nUNITS = {}  # what stands beside the numbers of each\nUSED = [{}]  # "
      "those of them that the network takes\nTARGET_COLUMN = {}  # where the target "
      "stands among them\nBLANKS = {}  # in any case\n",
      python_literal(names), numbers, python_literal(units), used,
      how.target_column ? std::to_string(*how.target_column) : "None",
      python_literal(blank_texts()));
}

std::string rows_class(const preprocessing& how) {
  std::string text = "\nclass Rows:\n"
                     "    \"\"\"Makes rows of texts the inputs of the network. NaN is a "
                     "blank, as is what the training data does not have.\"\"\"\n\n";
  for (const auto& known : known_values_of(how))
    text += fmt::format("    {} = {}\n", known.name, python_literal(known.values));
  auto methods = row_methods(how, {.sine = "math.sin",
                                   .cosine = "math.cos",
                                   .remainder = "math.fmod",
                                   .doubles = "torch.float64"});
  if (has_text_columns(how)) {
    text += indented(text_constants(how), 4);
    methods += "\n" + text_methods();
  }
  return fmt::format("{}\n{}", text, indented(methods, 4));
}

std::string reading_functions(const preprocessing& how) {
  const auto* const type = takes_doubles(how) ? "torch.float64" : "torch.float32";
  if (!is_table(how))
    return replaced(encode_arrays, "TYPE", type);
  const auto number = "\n" + number_source(how, /*methods=*/false);
  if (!takes_texts(how))
    return number + rows_function(how) + replaced(encode_numbers, "TYPE", type);
  return number + rows_function(how)
         + replaced(encode_texts, "POINT",
                    how.decimal == ',' ? R"(.replace(".", ","))" : "");
}

} // namespace clade
