#include "engine/store/run/store.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <map>

using namespace clade;
using namespace clade::test;

namespace {

struct place {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
};

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& one : std::filesystem::directory_iterator(folder))
    names.push_back(one.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST_CASE("store: what was appended is read back in its order") {
  const place p;
  const auto history = a_history();
  write_store(p.file, history);
  const auto s = store::open_to_read(p.file);
  REQUIRE(s);
  CHECK(s->size() == history.size());
  const auto all = read_all(*s);
  CHECK_FALSE(all.failure);
  CHECK(all.records == encoded(history));
}

TEST_CASE(
    "store: any records come back as they were however they are batched and reopened") {
  REQUIRE(rc::check([] {
    const place p;
    std::vector<bytes> written;
    std::map<candidate_id, bytes> candidates, evaluations;
    for (int open = *rc::gen::inRange(0, 2); open >= 0; --open) {
      auto s = written.empty() && !std::filesystem::exists(p.file) ? store::create(p.file)
                                                                   : store::open(p.file);
      RC_ASSERT(s.has_value());
      for (int batch = *rc::gen::inRange(0, 3); batch > 0; --batch) {
        std::vector<entry> entries;
        for (int n = *rc::gen::inRange(1, 6); n > 0; --n) {
          auto r = any_record();
          // A candidate is born once, and evaluated once.
          if (const auto* b = std::get_if<candidate_born>(&r))
            if (!candidates.emplace(b->born.id, encode(r)).second)
              continue;
          if (const auto* e = std::get_if<candidate_evaluated>(&r))
            if (!evaluations.emplace(e->evaluated.id, encode(r)).second)
              continue;
          written.push_back(encode(r));
          entries.push_back({std::move(r), {}});
        }
        const auto appended = s->append(entries);
        RC_ASSERT((appended ? "" : appended.error().message) == "");
        RC_ASSERT(s->size() == written.size());
      }
      for (const auto& [id, r] : candidates)
        RC_ASSERT(encode(record(candidate_born{s->find_candidate(id).value()})) == r);
      for (const auto& [id, r] : evaluations)
        RC_ASSERT(encode(record(candidate_evaluated{s->find_evaluation(id).value()}))
                  == r);
    }
    const auto all = read_all(store::open_to_read(p.file).value());
    RC_ASSERT(!all.failure);
    RC_ASSERT(all.records == written);
  }));
}

TEST_CASE("store: closed it is one file beside its lock") {
  const place p;
  write_store(p.file, a_history());
  CHECK(names_in(p.folder.path()) == std::vector<std::string>{"run.db", "run.db.lock"});
}

TEST_CASE("store: a file that is there is not made anew") {
  const place p;
  write_store(p.file, a_history());
  const auto before = read_text(p.file);
  const auto again = store::create(p.file);
  REQUIRE_FALSE(again);
  CHECK(again.error().kind == error_kind::conflict);
  CHECK(read_text(p.file) == before);
}

TEST_CASE("store: a folder that is not there is an error that names the file") {
  const place p;
  const auto made = store::create(p.folder.path() / "nowhere" / "run.db");
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == error_kind::io);
  CHECK_THAT(made.error().message, Catch::Contains("nowhere/run.db"));
}

TEST_CASE("store: the records are told with the time at which they were appended") {
  using namespace std::chrono;
  const auto now = [] {
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  };
  const place p;
  const auto before = now();
  write_store(p.file, a_history());
  const auto after = now();
  const auto s = store::open_to_read(p.file);
  REQUIRE(s);
  std::size_t count = 0;
  REQUIRE(s->for_each(
      [&](std::uint64_t, std::int64_t unix_ms, const record&) -> expected<void> {
        CHECK(unix_ms >= before);
        CHECK(unix_ms <= after);
        ++count;
        return {};
      }));
  CHECK(count == a_history().size());
}

TEST_CASE("store: reading stops where the visitor fails with its error") {
  const place p;
  write_store(p.file, a_history());
  const auto s = store::open_to_read(p.file);
  REQUIRE(s);
  std::uint64_t seen = 0;
  const auto read = s->for_each([&](std::uint64_t sequence, std::int64_t, const record&) {
    seen = sequence;
    return sequence < 3 ? expected<void>() : fail(error_kind::refused, "enough");
  });
  CHECK(read == fail(error_kind::refused, "enough"));
  CHECK(seen == 3);
}

TEST_CASE("store: an append of which one record does not fit leaves nothing behind") {
  const place p;
  auto s = store::create(p.file);
  REQUIRE(s);
  const std::vector<entry> first{born(a_candidate(1))};
  REQUIRE(s->append(first));
  // The tables know a candidate once.
  const std::vector<entry> second{
      born(a_candidate(2)), evaluated(an_evaluation(1, 0.5), "w"), born(a_candidate(1))};
  const auto refused = s->append(second);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::internal);
  CHECK(s->size() == 1);
  CHECK(read_all(*s).records == encoded(first));
  CHECK(s->find_candidate(2).error().kind == error_kind::not_found);
  CHECK(s->find_weights(1) == bytes());
  CHECK(s->overview()->evaluated == 0);

  const std::vector<entry> third{evaluated(an_evaluation(1, 0.25)), born(a_candidate(2))};
  REQUIRE(s->append(third));
  CHECK(s->size() == 3);
  CHECK(s->overview()->born == 2);
  CHECK(s->overview()->best_fitness == 0.25);
  CHECK_FALSE(read_all(*s).failure);
}

TEST_CASE("store: weights come with an evaluation or not at all") {
  const place p;
  auto s = store::create(p.file);
  REQUIRE(s);
  const entry stray{run_paused{""}, bytes("weights")};
  const auto refused = s->append({&stray, 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::internal);
  CHECK(s->size() == 0);
}

TEST_CASE("store: weights are kept until others are named") {
  const place p;
  auto s = store::create(p.file);
  REQUIRE(s);
  // More than fits a page, and no text.
  const bytes large(100'000, '\0');
  std::vector<entry> entries;
  for (candidate_id id = 1; id <= 3; ++id)
    entries.push_back(evaluated(an_evaluation(id, 0.5), large + std::to_string(id)));
  entries.push_back(evaluated(an_evaluation(4, 0.5)));
  REQUIRE(s->append(entries));
  CHECK(s->find_weights(2) == large + "2");
  CHECK(s->find_weights(4) == bytes());

  const std::vector<candidate_id> kept{2, 4};
  REQUIRE(s->keep_weights(kept));
  CHECK(s->find_weights(1) == bytes());
  CHECK(s->find_weights(2) == large + "2");
  CHECK(s->find_weights(3) == bytes());

  *s = store(*store::open_to_read(p.file));
  CHECK(s->find_weights(2) == large + "2");
}

TEST_CASE("store: large weights lie beside the store, and go when others are named") {
  const place p;
  auto s = store::create(p.file);
  REQUIRE(s);
  const bytes content(store::most_weights_in_table + 1, 'w');
  const blob large(content);
  const auto beside = p.file.parent_path() / weights_folder_name;
  REQUIRE(
      s->append(std::vector<entry>{evaluated(an_evaluation(1, 0.5), content),
                                   evaluated(an_evaluation(2, 0.5), bytes("small"))}));
  CHECK(s->find_weights(1) == large);
  CHECK(s->find_weights(2) == bytes("small"));
  CHECK(std::filesystem::exists(beside / "1"));
  CHECK(std::filesystem::file_size(p.file) < large.size() / 10);
  *s = store(*store::open_to_read(p.file));
  CHECK(s->find_weights(1) == large);
  std::filesystem::resize_file(beside / "1", 100);
  CHECK(s->find_weights(1).error().kind == error_kind::corrupt);

  *s = store(*store::open(p.file));
  REQUIRE(s->keep_weights(std::vector<candidate_id>{2}));
  CHECK(std::filesystem::is_empty(beside));
  CHECK(s->find_weights(1) == bytes());
  CHECK(s->find_weights(2) == bytes("small"));
}

TEST_CASE("store: weights of an earlier opening are dropped too") {
  const place p;
  write_store(p.file, a_history());
  auto s = store::open(p.file);
  REQUIRE(s);
  CHECK(s->find_weights(5) == bytes("the weights of 5"));
  const std::vector<candidate_id> nobody;
  REQUIRE(s->keep_weights(nobody));
  CHECK(s->find_weights(5) == bytes());
}

TEST_CASE("store: a candidate that is not there is not found") {
  const place p;
  write_store(p.file, a_history());
  const auto s = store::open_to_read(p.file);
  REQUIRE(s);
  CHECK(s->find_candidate(7).error().kind == error_kind::not_found);
  CHECK(s->find_evaluation(7).error().kind == error_kind::not_found);
  CHECK(s->find_overview(7).error().kind == error_kind::not_found);
  CHECK(s->members(2).error().kind == error_kind::not_found);
}

TEST_CASE("store: a reader writes nothing") {
  const place p;
  write_store(p.file, a_history());
  auto s = store::open_to_read(p.file);
  REQUIRE(s);
  const auto more = a_history();
  CHECK(s->append(more).error().kind == error_kind::internal);
  const std::vector<candidate_id> nobody;
  CHECK(s->keep_weights(nobody).error().kind == error_kind::internal);
  CHECK(read_all(*s).records == encoded(more));
}

TEST_CASE("store: who reads sees each append as soon as it is done") {
  const place p;
  auto writer = store::create(p.file);
  REQUIRE(writer);
  const auto reader = store::open_to_read(p.file);
  REQUIRE(reader);
  const auto history = a_history();
  for (std::size_t i = 0; i < history.size(); ++i) {
    REQUIRE(writer->append(std::span(history).subspan(i, 1)));
    CHECK(read_all(*reader).records.size() == i + 1);
    CHECK(reader->overview()->records == i + 1);
  }
}

TEST_CASE("store: who reads sees one moment of it while it grows") {
  const place p;
  auto writer = store::create(p.file);
  REQUIRE(writer);
  const auto history = a_history();
  REQUIRE(writer->append(std::span(history).first(5)));
  const auto reader = store::open_to_read(p.file);
  REQUIRE(reader);
  std::size_t seen = 0;
  REQUIRE(
      reader->for_each([&](std::uint64_t, std::int64_t, const record&) -> expected<void> {
        if (seen == 0)
          REQUIRE(writer->append(std::span(history).subspan(5)));
        ++seen;
        return {};
      }));
  CHECK(seen == 5);
  CHECK(read_all(*reader).records.size() == history.size());
}

TEST_CASE("store: what people write after the end is found and is no time of the run") {
  const place p;
  write_store(p.file, a_history());
  const auto before = query(p.file, "select updated_ms, state, records from progress");
  const auto told = [](instruction_kind kind, candidate_id id, const char* text) {
    return entry{operator_command{{.kind = kind, .number = id, .text = text}, "ada"}, {}};
  };
  const std::vector<entry> written{told(instruction_kind::tag, 0, "baseline"),
                                   told(instruction_kind::note, 5, "the best"),
                                   told(instruction_kind::tag, 5, "good")};
  {
    // Another second than that of the history.
    execute(p.file, "update progress set updated_ms = updated_ms - 100000");
    auto s = store::open(p.file);
    REQUIRE(s);
    CHECK(s->find_annotations().value().empty());
    REQUIRE(s->append(written));
  }
  const auto s = store::open_to_read(p.file);
  REQUIRE(s);
  const auto found = s->find_annotations().value();
  REQUIRE(found.size() == 2);
  CHECK(found.at(0).tags == std::set<std::string>{"baseline"});
  CHECK(found.at(5).note == "the best");
  CHECK(found.at(5).who == "ada");
  CHECK(found.at(5).unix_ms > 0);
  const auto updated = std::stoll(before.substr(0, before.find('|'))) - 100000;
  CHECK(query(p.file, "select updated_ms, state from progress")
        == std::to_string(updated) + "|finished\n");
  CHECK(s->size() == a_history().size() + 3);
}
