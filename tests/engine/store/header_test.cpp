#include "engine/store/sqlite/connection.hpp"
#include "engine/store/sqlite/schema.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sqlite3.h>

using namespace clade;
using namespace clade::test;

namespace {

/// Both ways of opening say the same of it, and leave the folder as it was.
error refusal_of(const scratch_folder& folder, const std::filesystem::path& file) {
  const auto list = [&] {
    std::string text;
    for (const auto& one : std::filesystem::directory_iterator(folder.path()))
      text += one.path().filename().string() + "=" + read_text(one.path()) + "\n";
    return text;
  };
  const auto before = list();
  const auto to_write = store::open(file);
  REQUIRE_FALSE(to_write);
  const auto to_read = store::open_to_read(file);
  REQUIRE_FALSE(to_read);
  CHECK(to_read.error() == to_write.error());
  CHECK(list() == before);
  return to_write.error();
}

} // namespace

TEST_CASE("store: a file that is not there is not found") {
  const scratch_folder folder;
  const auto e = refusal_of(folder, folder.path() / "run.db");
  CHECK(e.kind == error_kind::not_found);
  CHECK_THAT(e.message, Catch::EndsWith("run.db: no such file"));
}

TEST_CASE("store: what is no store is left alone") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_text(file, "");
  auto e = refusal_of(folder, file);
  CHECK(e.kind == error_kind::corrupt);
  CHECK_THAT(e.message, Catch::Contains("is empty"));

  write_text(file,
             "[experiment]\nname = \"a file that is longer than SQLite's header, which "
             "has 100 bytes at the least\"\n");
  e = refusal_of(folder, file);
  CHECK(e.kind == error_kind::corrupt);
  CHECK_THAT(e.message, Catch::Contains("no SQLite file"));

  write_text(file, "short");
  CHECK(refusal_of(folder, file).kind == error_kind::corrupt);

  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK(store::open(file).error().kind == error_kind::corrupt);
}

TEST_CASE("store: an SQLite file of another program is left alone") {
  const scratch_folder folder;
  const auto file = folder.path() / "other.db";
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("create table records (a)");
  }
  const auto e = refusal_of(folder, file);
  CHECK(e.kind == error_kind::corrupt);
  CHECK_THAT(e.message, Catch::Contains("of another program"));
}

TEST_CASE("store: the store of a newer version is left alone and that version named") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, a_history());
  execute(file, "pragma user_version = 7");
  std::filesystem::remove(folder.path() / "run.db.lock");
  const auto e = refusal_of(folder, file);
  CHECK(e.kind == error_kind::conflict);
  CHECK_THAT(e.message, Catch::Contains("newer clade (schema 7; this one knows 2)"));
}

TEST_CASE("store: its header says what it is from the first moment") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  const auto s = store::create(file);
  REQUIRE(s);
  CHECK(check_header(file).has_value());
  CHECK(query(file, "pragma application_id")
        == std::to_string(store_application_id) + "\n");
  CHECK(query(file, "pragma user_version")
        == std::to_string(store::schema_version) + "\n");
  CHECK(query(file, "pragma journal_mode") == "wal\n");
}

TEST_CASE("store: a full disk is said with what to do about it") {
  const auto e =
      store_failure("runs/x/run.db", SQLite::Exception("full", SQLITE_FULL)).value();
  CHECK(e.kind == error_kind::io);
  CHECK_THAT(e.message, Catch::StartsWith("runs/x/run.db: disk full"));
  CHECK_THAT(e.message, Catch::EndsWith("free some room, then: clade resume runs/x"));
}

TEST_CASE("store: errors of the disk are those of the machine") {
  const auto kind = [](int code, int system = 0) {
    return store_failure("run.db", SQLite::Exception("", code), system).value().kind;
  };
  CHECK(kind(SQLITE_IOERR, EIO) == error_kind::io);
  CHECK(kind(SQLITE_IOERR, ENOSPC) == error_kind::io);
  CHECK(kind(SQLITE_CANTOPEN, EACCES) == error_kind::io);
  CHECK(kind(SQLITE_NOMEM) == error_kind::io);
  CHECK(kind(SQLITE_CORRUPT) == error_kind::corrupt);
  CHECK(kind(SQLITE_NOTADB) == error_kind::corrupt);
  CHECK(kind(SQLITE_BUSY) == error_kind::conflict);
  CHECK(kind(SQLITE_MISUSE) == error_kind::internal);
}
