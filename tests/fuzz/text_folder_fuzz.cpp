// Any bytes of files by class are a table of texts, a row for each, or an error.
#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/converted/text_folder.hpp"
#include "genome/base/utf8.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/scratch.hpp"

#include <algorithm>
#include <string>

using namespace clade;
using namespace clade::fuzz;

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scratch_folder around;
  choices input(data, size);
  const auto first = input.byte(), second = input.byte();
  const std::string rest(input.rest());
  const auto cut = [&](std::size_t at) { return std::min<std::size_t>(at, rest.size()); };
  const auto one = cut(first), two = cut(one + second);
  fs::create_directories(around.path() / "good");
  fs::create_directories(around.path() / "bad" / "deep");
  write_text(around.path() / "good" / "1.txt", rest.substr(0, one));
  write_text(around.path() / "good" / "2", rest.substr(one, two - one));
  write_text(around.path() / "bad" / "deep" / "3.md", rest.substr(two));
  const auto read = read_text_folder(around.path(), {});
  if (!read)
    return refused(read);
  for (std::string_view left = read->bytes; !left.empty();) {
    const auto length = utf8_length(left);
    hold(length > 0, "a table of texts is UTF-8");
    left.remove_prefix(length);
  }
  hold(read->table && read->table->files.size() == 3, "each file is known");
  csv_rows rows(read->bytes);
  csv_row row;
  std::size_t count = 0;
  auto more = rows.next(row);
  for (; more && *more; more = rows.next(row)) {
    hold(row.fields.size() == 2, "a row is a text and its class");
    ++count;
  }
  hold(more, "rows can be told apart");
  hold(count == 4, "there is a row of names, and one for each file");
  return 0;
}
