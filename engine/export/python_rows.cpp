#include "engine/export/python_rows.hpp"

#include "engine/export/python_source.hpp"
#include "engine/export/row_source.hpp"

#include <algorithm>

namespace clade {
namespace {

constexpr std::string_view read_rows_function = R"(
def read_rows(file):
    """The rows of a CSV like the training data's, with or without the target: texts in the order of the columns.

    `file` is its name, or "-" for standard input. Where it names its columns, they may stand in any order and with
    others among them.
    """
    data = sys.stdin.buffer.read() if str(file) == "-" else pathlib.Path(file).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = decoded(data)
    delimiter = max(",;\t|", key=text.split("\n", 1)[0].count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows = [[field.strip() for field in line] for line in lines if line]
    if rows and any(name and name in rows[0] for name in COLUMNS):
        missing = [name for i, name in enumerate(COLUMNS) if i in USED and name not in rows[0]]
        if missing:
            raise ValueError(f"{file}: columns of the training data are missing: {', '.join(missing)}")
        places = [rows[0].index(name) if name in rows[0] else None for name in COLUMNS]
        return [["" if at is None else row[at] for at in places] for row in rows[1:]]
    if rows and TARGET_COLUMN is not None and len(rows[0]) > len(COLUMNS):
        rows = [row[:TARGET_COLUMN] + row[TARGET_COLUMN + 1:] for row in rows]
    if rows and not all(is_number(rows[0][at]) for at in NUMBERS):
        del rows[0]  # It names the columns, or counts the rows.
    return rows


def decoded(data):
    """The text that the bytes of a CSV hold: UTF-8, UTF-16, or else Latin-1."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_number(text):
    try:
        return number(text) is not None
    except ValueError:
        return False

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
        rows = [[number(value) for value in row] for row in rows]
    return torch.as_tensor(rows, dtype=torch.float32)

)";

constexpr std::string_view encode_arrays = R"(
def encode(rows):
    """Examples as their file has them, or a tensor or array of them, as a tensor."""
    return torch.as_tensor(rows, dtype=torch.float32)

)";

constexpr std::string_view number_function = R"(
def number(value):
    """The number that a text holds, or NaN for a blank."""
    if value is None or str(value).lower() in BLANKS:
        return math.nan
    return float(str(value)PLAIN)

)";

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    if (end > from)
      out += "    " + text.substr(from, end - from);
    out += "\n";
    from = end + 1;
  }
  return out;
}

/// The text with `by` in the place of `mark`, which stands in it once.
std::string replaced(std::string_view text, std::string_view mark, std::string_view by) {
  std::string out(text);
  out.replace(out.find(mark), mark.size(), by);
  return out;
}

} // namespace

bool is_table(const preprocessing& how) {
  return !how.columns.empty() || how.target_column;
}

std::string table_constants(const preprocessing& how) {
  std::vector<std::string> names;
  std::string numbers, used;
  const auto append = [](std::string& list, std::size_t c) {
    list += (list.empty() ? "" : ", ") + std::to_string(c);
  };
  for (std::size_t c = 0; c < how.width; ++c) {
    names.push_back(how.column(c).name);
    if (how.column(c).kind == encoding_kind::number)
      append(numbers, c);
    if (how.column(c).kind != encoding_kind::ignore)
      append(used, c);
  }
  return "COLUMNS = " + python_literal(names) + "  # of a row, in this order\n"
         + "NUMBERS = [" + numbers + "]  # those of them that are numbers\n" + "USED = ["
         + used + "]  # those of them that the network takes\n" + "TARGET_COLUMN = "
         + (how.target_column ? std::to_string(*how.target_column) : "None")
         + "  # where the target stands among them\n"
         + "BLANKS = " + python_literal(blank_texts()) + "  # in any case\n";
}

std::string rows_class(const preprocessing& how) {
  std::string text = "\nclass Rows:\n"
                     "    \"\"\"Makes rows of texts the inputs of the network. NaN is a "
                     "blank, as is what the training data does not have.\"\"\"\n\n";
  for (const auto& known : known_values_of(how))
    text += "    " + known.name + " = " + python_literal(known.values) + "\n";
  return text + "\n" + indented(row_methods(how, "math.sin", "math.cos"));
}

std::string reading_functions(const preprocessing& how) {
  if (!is_table(how))
    return std::string(encode_arrays);
  const bool comma = how.decimal == ',';
  const auto number =
      replaced(number_function, "PLAIN",
               comma ? R"(.replace(".", "").replace(",", "."))" : R"(.replace(",", ""))");
  if (!takes_texts(how))
    return number + std::string(read_rows_function) + std::string(encode_numbers);
  return number + std::string(read_rows_function)
         + replaced(encode_texts, "POINT", comma ? R"(.replace(".", ","))" : "");
}

} // namespace clade
