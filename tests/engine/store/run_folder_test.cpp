#include "engine/store/sqlite/run_folder.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/unprivileged.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct runs {
  scratch_folder scratch;
  std::filesystem::path folder = scratch.path() / "runs";

  explicit runs(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      std::filesystem::create_directories(folder / name);
      write_text(folder / name / "run.db", "");
    }
  }

  /// The name of the folder that is found, or the error.
  [[nodiscard]] std::string find(const std::string& text) const {
    const auto found = find_run(text, folder);
    return found ? found->filename().string() : found.error().message;
  }
};

} // namespace

TEST_CASE("run folder: the name of an experiment is its latest run") {
  const runs r({"digits-20260101-120000", "digits-20260102-080000",
                "digits-20260101-235959", "digits-large-20260103-000000"});
  CHECK(r.find("digits") == "digits-20260102-080000");
  CHECK(r.find("digits-large") == "digits-large-20260103-000000");
  CHECK(r.find("digits-20260101-120000") == "digits-20260101-120000");
}

TEST_CASE("run folder: of two runs of one second the second is the latest") {
  const runs r({"iris-20260101-120000-2", "iris-20260101-120000"});
  CHECK(r.find("iris") == "iris-20260101-120000-2");
  CHECK(r.find("iris-20260101-120000") == "iris-20260101-120000");
}

TEST_CASE("run folder: the beginning of a name is enough where it is only one") {
  const runs r(
      {"digits-20260101-120000", "digits-20260102-080000", "iris-20260101-000000"});
  CHECK(r.find("dig") == "digits-20260102-080000");
  CHECK(r.find("digits-20260101") == "digits-20260101-120000");
  const auto several = find_run("digits-2026", r.folder);
  REQUIRE_FALSE(several);
  CHECK(several.error().kind == error_kind::invalid_input);
  CHECK_THAT(several.error().message,
             Catch::Contains("digits-20260102-080000, digits-20260101-120000"));
}

TEST_CASE("run folder: a name that two experiments begin with is not guessed") {
  const runs r({"housing-20260101-120000", "houses-20260101-120000"});
  CHECK(find_run("hous", r.folder).error().kind == error_kind::invalid_input);
  CHECK(r.find("house") == "houses-20260101-120000");
}

TEST_CASE("run folder: a path to the folder or its store is taken as it is") {
  const runs r({"x-20260101-120000"});
  const auto folder = r.folder / "x-20260101-120000";
  CHECK(find_run(folder.string(), "elsewhere") == folder);
  CHECK(find_run(folder.string() + "/", "elsewhere") == folder / "");
  CHECK(find_run((folder / "run.db").string(), "elsewhere") == folder);
  CHECK(find_store(folder.string(), "elsewhere") == folder / "run.db");
  CHECK(find_store("x", r.folder) == folder / "run.db");
}

TEST_CASE("run folder: a store that was copied elsewhere can be read") {
  const runs r({});
  const auto copy = r.scratch.path() / "backup.db";
  write_text(copy, "");
  CHECK(find_store(copy.string(), r.folder) == copy);
  CHECK_FALSE(find_run(copy.string(), r.folder).has_value());
}

TEST_CASE("run folder: what is not there is not found") {
  const runs r({"digits-20260101-120000"});
  for (const char* text : {"iris", "", "digits-20260101-120001", "/"}) {
    const auto found = find_run(text, r.folder);
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == error_kind::not_found);
  }
  CHECK(find_run("digits", r.scratch.path() / "nowhere").error().kind
        == error_kind::not_found);
}

TEST_CASE("run folder: the nearest name is said of what is not found") {
  const runs r({"digits-20260101-120000", "iris-20260102-120000"});
  const auto said = [&](const char* text) {
    return find_run(text, r.folder).error().message;
  };
  CHECK_THAT(said("dgits"), Catch::EndsWith("; did you mean \"digits\"?"));
  CHECK_THAT(said("digits-20260101-120001"),
             Catch::EndsWith("; did you mean \"digits-20260101-120000\"?"));
  CHECK_THAT(said("houses"), Catch::EndsWith("; \"clade list\" lists the runs"));
}

TEST_CASE("run folder: the list has folders with a store and the latest first") {
  const runs r(
      {"a-20260101-120000", "b-20260103-120000", "c-20260102-120000", "unstamped"});
  std::filesystem::create_directory(r.folder / "empty-20260104-120000");
  const auto all = list_run_folders(r.folder).value();
  std::vector<std::string> names;
  for (const auto& one : all)
    names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"b", "c", "a", "unstamped"});
  CHECK(list_run_folders(r.scratch.path() / "nowhere")->empty());
}

TEST_CASE("run folder: one that may not be read is told from one that is not there") {
  const unprivileged somebody;
  const runs r({"digits-20260101-120000", "digits-20260102-120000", "lost+found"});
  const auto mine = r.folder / "digits-20260101-120000";
  const auto theirs = r.folder / "digits-20260102-120000";
  constexpr auto none = std::filesystem::perms::none;
  constexpr auto all = std::filesystem::perms::owner_all;
  for (const auto& folder : {theirs, r.folder / "lost+found"})
    std::filesystem::permissions(folder, none);
  const auto denied =
      theirs.string() + ": permission denied; the run may be of another user";
  CHECK(r.find("digits") == mine.filename());
  CHECK(r.find(theirs.filename()) == denied);
  CHECK(r.find(theirs.string()) == denied);
  CHECK(find_store((theirs / "run.db").string(), r.folder).error().kind
        == error_kind::io);
  std::filesystem::permissions(mine, none);
  CHECK(r.find("digits") == denied);
  const auto listed = list_run_folders(r.folder);
  REQUIRE(listed);
  REQUIRE(listed->size() == 2);
  CHECK_FALSE(listed->front().readable);
  std::filesystem::permissions(r.folder, none);
  CHECK(list_run_folders(r.folder).error().kind == error_kind::io);
  for (const auto& folder : {r.folder, mine, theirs, r.folder / "lost+found"})
    std::filesystem::permissions(folder, all);
}
