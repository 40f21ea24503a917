#include "engine/store/repair/check.hpp"
#include "engine/store/run/store.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct written_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  store s = *store::create(file);

  written_store() { REQUIRE(s.append(a_history())); }

  /// Returns the picture as another process sees it.
  [[nodiscard]] std::optional<kept_picture> found() const {
    return store::open_to_read(file)->find_picture().value();
  }
};

expected<objective> goal(const run_started&) {
  return objective{};
}

} // namespace

TEST_CASE("kept picture: it goes to the disk with the next append") {
  written_store w;
  w.s.keep_picture({.sequence = 7, .data = "seven"});
  CHECK_FALSE(w.found());
  const entry paused{run_paused{"once more"}, {}};
  REQUIRE(w.s.append({&paused, 1}));
  REQUIRE(w.found());
  CHECK(w.found()->sequence == 7);
  CHECK(w.found()->data == "seven");
}

TEST_CASE("kept picture: it goes to the disk alone where nothing follows") {
  written_store w;
  w.s.keep_picture({.sequence = 7, .data = "seven"});
  w.s.keep_picture({.sequence = 9, .data = bytes("ni\0ne", 5)});
  REQUIRE(w.s.write_picture());
  CHECK(w.found()->data == bytes("ni\0ne", 5));
  execute(w.file, "delete from picture");
  REQUIRE(w.s.write_picture());
  CHECK_FALSE(w.found());
}

TEST_CASE("kept picture: when it is written the log is emptied though somebody reads") {
  written_store w;
  auto log = w.file;
  log += "-wal";
  const auto reader = store::open_to_read(w.file);
  REQUIRE(reader);
  REQUIRE(reader->overview());
  w.s.keep_picture({.sequence = 7, .data = "seven"});
  REQUIRE(std::filesystem::file_size(log) > 0);
  REQUIRE(w.s.write_picture());
  CHECK(std::filesystem::file_size(log) == 0);
  CHECK(reader->size() == a_history().size());
  const entry resumed{run_resumed{"0.1.1"}, {}};
  CHECK(w.s.append({&resumed, 1}));
}

TEST_CASE("kept picture: it does not count as a record") {
  written_store w;
  const auto before = query(w.file, "select * from progress");
  w.s.keep_picture({.sequence = 7, .data = "seven"});
  REQUIRE(w.s.write_picture());
  CHECK(query(w.file, "select * from progress") == before);
  CHECK(w.s.size() == a_history().size());
  CHECK(read_all(w.s).records == encoded(a_history()));
  CHECK(examine_store(w.file, goal)->table_fault.empty());
}

TEST_CASE("kept picture: one of a record that is not there is not kept") {
  written_store w;
  w.s.keep_picture({.sequence = a_history().size() + 1, .data = "too far"});
  REQUIRE(w.s.write_picture());
  CHECK(query(w.file, "select count(*) from picture") == "0\n");
}

TEST_CASE("kept picture: one that does not fit is passed over, and check says so") {
  for (const char* change :
       {"update picture set bytes = x'00'", "update picture set checksum = checksum + 1",
        "update picture set record_checksum = record_checksum + 1",
        "update picture set sequence = sequence + 1",
        "update picture set sequence = 1000"}) {
    INFO(change);
    written_store w;
    w.s.keep_picture({.sequence = 7, .data = "seven"});
    REQUIRE(w.s.write_picture());
    REQUIRE(examine_store(w.file, goal)->table_fault.empty());
    execute(w.file, change);
    CHECK_FALSE(w.found());
    CHECK_THAT(examine_store(w.file, goal)->table_fault, Catch::Contains("the picture"));
  }
}
