// Any bytes that are read as SQLite give a table or an error.
#include "tests/fuzz/table_law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return check_table(read_sqlite_table(text_of(data, size), small_table));
}
