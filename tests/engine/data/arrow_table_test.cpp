// The files were written by tables/make.py.
#include "engine/data/converted/data_file.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::filesystem::path made(const char* name) {
  return std::filesystem::path(CLADE_ROOT) / "tests/engine/data/tables" / name;
}

} // namespace

TEST_CASE("Arrow: Parquet, Feather and streams keep their kinds of columns") {
  for (const char* name : {"made.parquet", "made.feather", "made.arrows"}) {
    const auto read = read_data_file(made(name));
    REQUIRE(read);
    CHECK(read->bytes
          == "code,n,x,yes,kind,day,at,price,inner.a,inner.b.c\n"
             "007,1,0.1,true,0,2026-01-31,1970-01-01 00:00:00,,1,z\n"
             ",-2,,false,1,,1970-01-01 00:00:01.5,1.00,,\n"
             "\"a,b\",,2,,0,1969-12-31,1969-12-31 23:59:59.999,2.00,3,\n");
    REQUIRE(read->table);
    CHECK(read->table->texts
          == std::vector{true, false, false, false, true, false, false, false, false,
                         true});
    REQUIRE(read->table->notes.size() == 1);
    CHECK(read->table->notes[0].starts_with("\"list\" is of the type list<"));
  }
}

TEST_CASE("Arrow: what is cut off or changed is an error or a table, never a crash") {
  for (const char* name : {"made.parquet", "made.feather", "made.arrows"}) {
    const auto whole = read_whole_file(made(name), data_limits()).value();
    for (std::size_t size = 8; size < whole.size(); size += 97) {
      const auto cut = read_arrow_table(std::string_view(whole).substr(0, size), {});
      CHECK((cut || cut.error().message.find("cannot be read (") == 0));
    }
    for (std::size_t at = 8; at < whole.size(); at += 13) {
      auto changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      const auto read = read_arrow_table(changed, {});
      CHECK((read || !read.error().message.empty()));
    }
  }
}
