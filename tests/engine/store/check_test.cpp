// Whatever is done to a store's file: what is called whole is what was written, and what
// a repair leaves folds to a beginning of it.
#include "engine/store/repair/check.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/content_of.hpp"
#include "tests/support/scratch.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;
using namespace clade::test;

namespace {

expected<objective> goal_of(const run_started&) {
  return objective{};
}

const bytes kept_weights(600, 'w');

/// The history, where the weights of #5 are those of its evaluation.
std::vector<entry> a_run() {
  auto history = a_history();
  for (auto& e : history)
    if (!e.weights.empty()) {
      e.weights = kept_weights;
      std::get<candidate_evaluated>(e.record).evaluated.weights_hash =
          hash64(kept_weights);
    }
  return history;
}

/// All that a person can query, as SQL literals. Throws.
std::string dump(const std::filesystem::path& file) {
  std::string text;
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  for (const char* table :
       {"records", "runs", "progress", "genomes", "parents", "evaluations", "epochs",
        "generations", "nodes", "attempts", "examinations", "weights", "metrics"}) {
    SQLite::Statement rows(db, std::string("select * from ") + table);
    text += table;
    for (; rows.executeStep(); text += "\n")
      for (int i = 0; i < rows.getColumnCount(); ++i)
        text += "|" + std::to_string(rows.getColumn(i).getType())
                + rows.getColumn(i).getString();
  }
  return text;
}

struct stored_run {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  std::vector<entry> history = a_run();
  std::vector<bytes> written = encoded(history);

  explicit stored_run(std::size_t batch = 4) { write_store(file, history, batch); }

  [[nodiscard]] store_condition examined() const {
    const auto found = examine_store(file, goal_of);
    INFO((found ? "" : found.error().message));
    REQUIRE(found);
    return *found;
  }
  [[nodiscard]] store_repair repaired() const {
    const auto done = repair_store(file, goal_of);
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
    return *done;
  }

  /// Returns the fault of a repair, if any.
  [[nodiscard]] std::string fault_of_repair(std::uint64_t whole) const {
    const auto done = repair_store(file, goal_of);
    if (!done)
      return whole == 0 && done.error().kind == error_kind::corrupt
                 ? ""
                 : done.error().message;
    if (done->found.records != whole)
      return "another number of records than was examined";
    auto s = store::open(file);
    if (!s)
      return s.error().message;
    const auto all = read_all(*s);
    if (all.failure || all.records.size() != whole
        || !std::equal(all.records.begin(), all.records.end(), written.begin()))
      return "not the beginning of what was written";
    // It can be gone on with.
    for (auto i = whole; i < history.size(); ++i)
      if (const auto appended = s->append({&history[i], 1}); !appended)
        return appended.error().message;
    if (!examine_store(file, goal_of)->whole())
      return "not whole";
    return "";
  }
};

std::string flipped(std::string text, std::size_t at) {
  text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
  return text;
}

} // namespace

TEST_CASE("check: a store is whole in whatever transactions it was written") {
  for (const std::size_t batch : {1, 3, 4, 100}) {
    const stored_run r(batch);
    const auto found = r.examined();
    INFO(found.record_fault << found.table_fault << found.file_fault);
    CHECK(found.whole());
    CHECK(found.records == r.written.size());
    CHECK(found.written == r.written.size());
    CHECK(found.weights == std::vector<candidate_id>{5});
  }
}

TEST_CASE("check: weights of a final model that are no candidate's are whole") {
  const bytes fitted(500, 'f');
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto history = a_run();
  history.insert(history.end() - 1,
                 {model_composed{.members = {{.id = 0, .share = 1}}}, fitted});
  write_store(file, history, 4);
  const auto found = examine_store(file, goal_of);
  REQUIRE(found);
  CHECK(found->whole());
  CHECK(found->weights == std::vector<candidate_id>{0, 5});
  const auto before = dump(file);
  REQUIRE(repair_store(file, goal_of));
  CHECK(dump(file) == before);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("update runs set seed = 99; update weights set checksum = 7 where id = 5");
  const auto repaired = repair_store(file, goal_of);
  REQUIRE(repaired);
  CHECK(repaired->found.weights == std::vector<candidate_id>{0});
  // The damaged one is kept, and what is sound is in the new one.
  CHECK(std::filesystem::exists(repaired->damaged));
  const auto s = store::open_to_read(file);
  REQUIRE(s);
  CHECK(content_of(s->find_weights(0).value()) == fitted);
}

TEST_CASE("check: a store of nothing yet is whole") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  REQUIRE(store::create(file));
  CHECK(examine_store(file, goal_of)->whole());
}

TEST_CASE("check: a store is whole while it is written, and is not repaired then") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto s = store::create(file);
  REQUIRE(s);
  const auto history = a_run();
  for (std::size_t i = 0; i < history.size(); ++i) {
    REQUIRE(s->append(std::span(history).subspan(i, 1)));
    const auto found = examine_store(file, goal_of);
    REQUIRE(found);
    CHECK(found->whole());
    CHECK(found->records == i + 1);
  }
  CHECK(repair_store(file, goal_of).error().kind == error_kind::conflict);
}

TEST_CASE("check: what is wrong is said where it is") {
  const auto [sql, said] = GENERATE(table<std::string, std::string>({
      {"update records set kind = 1 where sequence = 5",
       "record 5 does not match its checksum"},
      {"delete from records where sequence = 5", "record 5 is missing"},
      {"delete from records where sequence = 23", "record 23 is missing"},
      {"update evaluations set fitness = 0.95 where id = 2",
       "table evaluations: row 2 is not what the records say"},
      {"update evaluations set tries = 1.0 where id = 2", ""},
      {"delete from epochs where id = 5 and number = 2", "table epochs: row 6 is"},
      {"insert into parents values (9, 0, 1)", "table parents: row 5 is one too many"},
      {"update runs set metric = 'validation.loss'", "table runs: row 1 is not"},
      {"update progress set reason = 'x'", "table progress: row 1 is not"},
      {"drop table attempts", "table attempts is missing"},
      {"create index mine on evaluations (fitness)", ""},
      {"create trigger mine after insert on records begin delete from parents; end",
       "trigger mine on table records changes what is written"},
      {"update weights set bytes = x'00'", "the weights of #5 do not match"},
      {"update weights set id = 2", "the weights of #2 do not match"},
      {"update weights set id = 77", "the weights of #77 have no evaluation"},
  }));
  const stored_run r;
  execute(r.file, sql);
  INFO(sql);
  const auto found = r.examined();
  CHECK(found.whole() == said.empty());
  auto all = found.record_fault + found.table_fault;
  for (const auto& fault : found.weights_faults)
    all += fault;
  CHECK_THAT(all, Catch::Contains(said));
  CHECK(r.fault_of_repair(found.records).empty());
}

TEST_CASE("check: what somebody added is named, and is no damage") {
  const stored_run r;
  CHECK(r.examined().additions.empty());
  execute(r.file, "create table mine (x); create view my_view as select * from mine;"
                  "create index my_index on evaluations (fitness); analyze");
  CHECK(r.examined().additions
        == std::vector<std::string>{"table mine", "view my_view", "index my_index"});
  CHECK(r.examined().whole());
}

TEST_CASE("check: a repair keeps the damaged file and its weights, each time") {
  const stored_run r;
  CHECK(r.repaired().damaged.empty());
  const auto before = dump(r.file);
  for (const char* name : {"run.db.damaged", "run.db.damaged-2", "run.db.damaged-3"}) {
    execute(r.file, "update evaluations set fitness = 1");
    const auto damaged = read_text(r.file);
    CHECK(r.repaired().damaged == r.folder.path() / name);
    CHECK(read_text(r.folder.path() / name) == damaged);
    CHECK(dump(r.file) == before);
    CHECK(*store::open(r.file)->find_weights(5) == kept_weights);
  }
  CHECK_FALSE(std::filesystem::exists(r.folder.path() / "run.db.repaired"));
}

TEST_CASE("check: whatever byte is changed nothing changed is called whole") {
  const stored_run r;
  const auto before = dump(r.file);
  const auto whole = read_text(r.file);
  std::size_t found_damaged = 0, repaired = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 97) {
    write_text(r.file, flipped(whole, at));
    INFO("byte " << at);
    const auto found = examine_store(r.file, goal_of);
    if (!found) {
      CHECK(found.error().kind == error_kind::conflict); // A newer version, it seems.
      CHECK((at >= 60 && at < 64));
      continue;
    }
    if (found->whole()) {
      CHECK(dump(r.file) == before);
      continue;
    }
    ++found_damaged;
    repaired += found->records > 0 ? 1 : 0;
    const auto fault = r.fault_of_repair(found->records);
    if (!fault.empty())
      FAIL(fault);
    for (const auto& f : std::filesystem::directory_iterator(r.folder.path()))
      std::filesystem::remove(f.path());
  }
  CHECK(found_damaged > 100);
  CHECK(repaired > 100);
}

TEST_CASE("check: wherever the file ends what is left is told from what is lost") {
  const stored_run r;
  const auto whole = read_text(r.file);
  std::size_t left = 0;
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 50 : 2027) {
    write_text(r.file, whole.substr(0, size));
    INFO(size << " bytes");
    const auto found = examine_store(r.file, goal_of);
    REQUIRE(found);
    CHECK_FALSE(found->whole());
    left += found->records > 0 ? 1 : 0;
    const auto fault = r.fault_of_repair(found->records);
    if (!fault.empty())
      FAIL(fault);
    for (const auto& f : std::filesystem::directory_iterator(r.folder.path()))
      std::filesystem::remove(f.path());
  }
  CHECK(left > 5);
}

TEST_CASE("check: a byte changed in the log loses the end, and that is said") {
  const stored_run r(2);
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto s = store::create(file);
  REQUIRE(s);
  constexpr std::size_t batch = 2;
  for (std::size_t i = 0; i < r.history.size(); i += batch)
    REQUIRE(s->append(
        std::span(r.history).subspan(i, std::min(batch, r.history.size() - i))));
  const auto base = read_text(file);
  const auto log = read_text(folder.path() / "run.db-wal");
  std::size_t said = 0;
  for (std::size_t at = 0; at < log.size(); at += at < 60 ? 5 : 1237) {
    std::filesystem::remove(r.folder.path() / "run.db-shm");
    write_text(r.file, base);
    write_text(r.folder.path() / "run.db-wal", flipped(log, at));
    INFO("byte " << at << " of the log");
    const auto found = r.examined();
    CHECK(found.record_fault + found.table_fault + found.file_fault == "");
    CHECK((found.records % batch == 0 || found.records == r.written.size()));
    // Nobody knows of the transaction written last whether it was synced.
    if (found.records + 2 * batch <= r.written.size()) {
      CHECK_THAT(found.log_fault, Catch::Contains("checksum"));
      ++said;
    }
    const auto fault = r.fault_of_repair(found.records);
    if (!fault.empty())
      FAIL(fault);
    for (const auto& f : std::filesystem::directory_iterator(r.folder.path()))
      std::filesystem::remove(f.path());
  }
  CHECK(said > 10);
}
