// Whatever byte of a store is changed, and wherever it ends: what is read of it is what
// was written, or an error.
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace clade;
using namespace clade::test;

namespace {

bool is_prefix(const std::vector<bytes>& part, const std::vector<bytes>& whole) {
  return part.size() <= whole.size()
         && std::equal(part.begin(), part.end(), whole.begin());
}

/// Returns the fault of what a store says, if anything: it may say less than was written
/// only with an error, and something else never.
std::string lie_of(const store& s, const std::vector<bytes>& written) {
  const auto all = read_all(s);
  if (!is_prefix(all.records, written))
    return "other records than were written";
  if (!all.failure && all.records.size() != written.size())
    return "fewer records without an error";
  for (candidate_id id = 1; id <= 6; ++id) {
    if (const auto c = s.find_candidate(id))
      if (std::find(written.begin(), written.end(), encode(record(candidate_born{*c})))
              == written.end()
          || c->id != id)
        return "another candidate";
    if (const auto e = s.find_evaluation(id))
      if (std::find(written.begin(), written.end(),
                    encode(record(candidate_evaluated{*e})))
              == written.end()
          || e->id != id)
        return "another evaluation";
    if (const auto w = s.find_weights(id);
        w && !w->empty() && *w != bytes("the weights of 5"))
      return "other weights";
  }
  return "";
}

struct damaged_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  std::vector<bytes> written = encoded(a_history());

  damaged_store() { write_store(file, a_history(), 100); }

  /// Returns the contents that are read after a statement was run on it.
  contents after(const std::string& sql) const {
    execute(file, sql);
    auto s = store::open_to_read(file);
    REQUIRE(s);
    return read_all(*s);
  }
};

} // namespace

TEST_CASE("store: a change in any column of a record is found where it is") {
  for (const char* change :
       {"unix_ms = unix_ms + 1", "kind = kind + 1", "payload = payload || x'00'",
        "payload = substr(payload, 2)", "payload = x''", "checksum = checksum + 1",
        "sequence = 1000"}) {
    const damaged_store d;
    INFO(change);
    const auto all =
        d.after(std::string("update records set ") + change + " where sequence = 5");
    CHECK(all.records.size() == 4);
    REQUIRE(all.failure);
    CHECK(all.failure->kind == error_kind::corrupt);
    CHECK_THAT(all.failure->message, Catch::Contains("record 5 of 23"));
    const auto opened = store::open(d.file);
    REQUIRE_FALSE(opened);
    CHECK(opened.error() == *all.failure);
  }
}

TEST_CASE("store: a record that was taken out is missed, the last one too") {
  for (const int taken : {1, 5, 23}) {
    const damaged_store d;
    const auto all =
        d.after("delete from records where sequence = " + std::to_string(taken));
    CHECK(all.records.size() == static_cast<std::size_t>(taken) - 1);
    REQUIRE(all.failure);
    CHECK_THAT(all.failure->message,
               Catch::Contains("record " + std::to_string(taken) + " of 23 is missing"));
  }
}

TEST_CASE(
    "store: records that are gone are missed where the table that counts them is gone "
    "too") {
  const damaged_store d;
  const auto all =
      d.after("delete from records where sequence > 5; delete from progress");
  REQUIRE(all.failure);
  CHECK(all.failure->kind == error_kind::corrupt);
  CHECK_THAT(all.failure->message, Catch::Contains("the table progress says nothing"));
}

TEST_CASE("store: records that are gone are missed where what counts them is no count") {
  for (const char* change : {"state = 'x'", "records = 0", "records = '5'", "records = 3",
                             "updated_ms = ''", "records = null"}) {
    const damaged_store d;
    INFO(change);
    const auto all =
        d.after(std::string("pragma ignore_check_constraints = on; "
                            "create table p as select * from progress; "
                            "drop table progress; alter table p rename to "
                            "progress; delete from records where sequence > 5; "
                            "update progress set ")
                + change);
    REQUIRE(all.failure);
    CHECK(all.failure->kind == error_kind::corrupt);
  }
}

TEST_CASE("store: two records that changed places are found") {
  const damaged_store d;
  const auto all = d.after("update records set sequence = 1000 where sequence = 4;"
                           "update records set sequence = 4 where sequence = 5;"
                           "update records set sequence = 5 where sequence = 1000;");
  CHECK(all.records.size() == 3);
  REQUIRE(all.failure);
  CHECK(all.failure->kind == error_kind::corrupt);
}

TEST_CASE("store: a query table that leads to another record is found") {
  const damaged_store d;
  execute(d.file,
          "update genomes set sequence = (select sequence from evaluations where id = 2) "
          "where id = 2;"
          "update evaluations set sequence = (select sequence from evaluations where "
          "id = 2) where id = 5");
  const auto s = store::open_to_read(d.file);
  REQUIRE(s);
  CHECK(s->find_candidate(2).error().kind == error_kind::corrupt);
  CHECK(s->find_evaluation(5).error().kind == error_kind::corrupt);
  CHECK(s->find_candidate(1).has_value());
}

TEST_CASE("store: weights that were changed are not given") {
  const damaged_store d;
  execute(d.file, "update weights set bytes = 'the weights of 6' where id = 5");
  const auto s = store::open_to_read(d.file);
  REQUIRE(s);
  CHECK(s->find_weights(5).error().kind == error_kind::corrupt);
}

TEST_CASE("store: whatever byte is changed no other record is read") {
  const damaged_store d;
  const auto whole = read_text(d.file);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 67) {
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    write_text(d.file, changed);
    INFO("byte " << at);
    const auto s = store::open_to_read(d.file);
    if (!s) {
      ++refused;
      continue;
    }
    const auto lie = lie_of(*s, d.written);
    if (!lie.empty())
      FAIL(lie);
    refused += read_all(*s).failure ? 1 : 0;
  }
  // The changes are no changes of unused bytes alone.
  CHECK(refused > 100);
}

TEST_CASE("store: wherever the file ends no other record is read") {
  const damaged_store d;
  const auto whole = read_text(d.file);
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 50 : 1013) {
    write_text(d.file, whole.substr(0, size));
    INFO(size << " bytes");
    const auto s = store::open_to_read(d.file);
    if (!s)
      continue;
    const auto lie = lie_of(*s, d.written);
    if (!lie.empty())
      FAIL(lie);
    const auto opened = store::open(d.file);
    CHECK((!opened || read_all(*opened).records.size() == d.written.size()));
  }
}

TEST_CASE("store: a log that ends anywhere holds whole transactions") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  const auto history = a_history();
  const auto written = encoded(history);
  constexpr std::size_t batch = 4;
  auto s = store::create(file);
  REQUIRE(s);
  for (std::size_t i = 0; i < history.size(); i += batch)
    REQUIRE(
        s->append(std::span(history).subspan(i, std::min(batch, history.size() - i))));
  // The state is as a power cut leaves it: nothing is closed, and the log ends somewhere.
  const auto base = read_text(file);
  const auto log = read_text(folder.path() / "run.db-wal");
  REQUIRE(log.size() > 100);
  std::size_t longest = 0;
  for (std::size_t size = 0; size <= log.size(); size += 3001) {
    const scratch_folder other;
    const auto copy = other.path() / "run.db";
    write_text(copy, base);
    write_text(other.path() / "run.db-wal", log.substr(0, size));
    INFO("a log of " << size << " bytes");
    auto opened = store::open(copy);
    REQUIRE(opened);
    const auto all = read_all(*opened);
    CHECK_FALSE(all.failure);
    CHECK(is_prefix(all.records, written));
    CHECK((all.records.size() % batch == 0 || all.records.size() == written.size()));
    CHECK(all.records.size() >= longest);
    longest = all.records.size();
    CHECK(opened->overview()->records == all.records.size());
  }
  CHECK(longest > 8);
}
