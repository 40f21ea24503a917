#include "engine/store/repair/check.hpp"
#include "engine/store/run/upgrade.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

/// The tables that came after the first schema are taken away again. A real store of that
/// time is in tests/integration/stores.
struct earlier_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";

  earlier_store() {
    write_store(file, a_history());
    execute(file, "drop table picture; alter table genomes drop column epochs;"
                  "alter table genomes drop column start;"
                  "pragma user_version = 1; vacuum");
    execute(file, "pragma wal_checkpoint(truncate)");
  }
};

expected<kept_picture> a_picture(const store& s) {
  return kept_picture{.sequence = s.size(), .data = "of all"};
}

expected<kept_picture> no_picture(const store&) {
  return fail(error_kind::corrupt, "no picture");
}

bool is_whole(const std::filesystem::path& file) {
  const auto found = examine_store(
      file, [](const run_started&) { return expected<objective>(objective{}); });
  REQUIRE(found);
  // The weights of the history are not those of its evaluation.
  return found->record_fault.empty() && found->table_fault.empty()
         && found->file_fault.empty();
}

std::optional<kept_picture> picture_in(const std::filesystem::path& file) {
  const auto s = store::open_to_read(file);
  REQUIRE(s);
  const auto found = s->find_picture();
  REQUIRE(found);
  return *found;
}

void has_all(const std::filesystem::path& file) {
  const auto s = store::open(file);
  REQUIRE(s);
  CHECK(s->version() == store::schema_version);
  CHECK(read_all(*s).records == encoded(a_history()));
  CHECK_FALSE(read_all(*s).failure);
  CHECK(s->find_weights(5) == bytes("the weights of 5"));
}

} // namespace

TEST_CASE("upgrade: a store of an earlier schema is read as it is") {
  const earlier_store e;
  const auto s = store::open_to_read(e.file);
  REQUIRE(s);
  CHECK(s->version() == 1);
  CHECK(read_all(*s).records == encoded(a_history()));
  CHECK(s->overview()->evaluated == 6);
  CHECK(s->find_picture()->has_value() == false);
  CHECK(is_whole(e.file));
}

TEST_CASE("upgrade: a store of an earlier schema is not written, and the command named") {
  const earlier_store e;
  const auto before = read_text(e.file);
  const auto s = store::open(e.file);
  REQUIRE_FALSE(s);
  CHECK(s.error().kind == error_kind::conflict);
  CHECK_THAT(s.error().message, Catch::Contains("an older clade (schema 1; this one "
                                                "writes 2); clade upgrade "
                                                + e.folder.path().string()));
  CHECK(read_text(e.file) == before);
}

TEST_CASE("upgrade: a copy can be gone on with, and the store stays as it was") {
  const earlier_store e;
  const auto before = read_text(e.file);
  const auto copy = e.folder.path() / "copy.db";
  REQUIRE(upgrade_copy(e.file, copy, a_picture));
  CHECK(read_text(e.file) == before);
  CHECK(is_whole(copy));
  CHECK(picture_in(copy)->data == "of all");
  has_all(copy);
}

TEST_CASE("upgrade: a copy of a store that is being written has what is on the disk") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db", copy = folder.path() / "copy.db";
  auto writer = store::create(file);
  REQUIRE(writer);
  REQUIRE(writer->append(a_history()));
  REQUIRE(upgrade_copy(file, copy, a_picture));
  has_all(copy);
}

TEST_CASE("upgrade: in place it has the same records, and a picture") {
  const earlier_store e;
  REQUIRE(upgrade_in_place(e.file, a_picture));
  CHECK(check_header(e.file).has_value());
  CHECK(query(e.file, "pragma user_version") == "2\n");
  CHECK(is_whole(e.file));
  CHECK(picture_in(e.file)->sequence == a_history().size());
  has_all(e.file);
  // Again, as after a kill just behind it.
  REQUIRE(upgrade_in_place(e.file, a_picture));
  CHECK(is_whole(e.file));
}

TEST_CASE("upgrade: in place it is refused while a process writes the store") {
  const earlier_store e;
  const auto before = read_text(e.file);
  const auto lock = run_lock::take(e.file);
  REQUIRE(lock);
  const auto done = upgrade_in_place(e.file, a_picture);
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == error_kind::conflict);
  CHECK(read_text(e.file) == before);
}

TEST_CASE("upgrade: what fails leaves everything as it was") {
  const earlier_store e;
  const auto before = read_text(e.file);
  const auto copy = e.folder.path() / "copy.db";
  CHECK(upgrade_copy(e.file, copy, no_picture).error().message == "no picture");
  CHECK_FALSE(std::filesystem::exists(copy));
  CHECK_FALSE(std::filesystem::exists(copy.string() + ".new"));
  CHECK_FALSE(upgrade_in_place(e.file, no_picture));
  CHECK(read_text(e.file) == before);
  write_text(copy, "mine");
  CHECK(upgrade_copy(e.file, copy, a_picture).error().kind == error_kind::conflict);
  CHECK(read_text(copy) == "mine");
}

TEST_CASE("upgrade: what a killed one left is replaced") {
  const earlier_store e;
  const auto copy = e.folder.path() / "copy.db";
  write_text(copy.string() + ".new", "half");
  write_text(copy.string() + ".new-wal", "half");
  REQUIRE(upgrade_copy(e.file, copy, a_picture));
  has_all(copy);
}

TEST_CASE("upgrade: the definitions are those of a store that is made") {
  const earlier_store e;
  REQUIRE(upgrade_in_place(e.file, a_picture));
  const auto fresh = e.folder.path() / "fresh.db";
  write_store(fresh, a_history());
  const char* columns =
      "select m.name, p.name, p.type, p.\"notnull\", p.pk from "
      "sqlite_schema m join pragma_table_info(m.name) p order by 1, p.cid";
  CHECK(query(e.file, columns) == query(fresh, columns));
}

TEST_CASE("upgrade: a copy is named after its run") {
  CHECK(upgraded_store("runs/digits-20260131-140500/run.db")
        == "runs/digits-upgraded-20260131-140500/run.db");
  CHECK(upgraded_store("runs/digits/run.db") == "runs/digits-upgraded/run.db");
  CHECK(upgraded_store("some/copy.db") == "some/copy-upgraded.db");
  CHECK(upgraded_store("run.db") == "run-upgraded.db");
}
