#include "actors/head/archive.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct fixture {
  scratch_folder folder;
  test_system system;
  archive_actor archive = system->spawn(
      archive_behavior,
      std::make_shared<store>(store::create(folder.path() / "run.db").value()),
      folder.path() / checkpoints_folder_name);

  ~fixture() {
    caf::anon_send_exit(archive, caf::exit_reason::user_shutdown);
    system.settle();
  }

  template<class Answer, class Request>
  Answer ask(const Request& request) {
    std::optional<Answer> answer;
    caf::scoped_actor self(*system);
    auto asked = self->request(archive, caf::infinite, request);
    system.settle();
    asked.receive([&](const Answer& a) { answer = a; },
                  [](caf::error&) { FAIL("no answer"); });
    return std::move(*answer);
  }

  appended add(std::vector<entry> entries, std::map<candidate_id, blob> checkpoints = {},
               std::optional<kept_checkpoints> tidy = {}) {
    return ask<appended>(append{
        .entries = std::make_shared<const std::vector<entry>>(std::move(entries)),
        .keep = {},
        .checkpoints =
            std::make_shared<const std::map<candidate_id, blob>>(std::move(checkpoints)),
        .tidy = tidy});
  }

  /// The records on the disk, read by somebody else.
  [[nodiscard]] std::vector<bytes> stored() const {
    return read_all(store::open_to_read(folder.path() / "run.db").value()).records;
  }
};

candidate from(candidate_id id, candidate_id start) {
  auto c = a_candidate(id);
  c.parents = {start};
  c.start = start;
  c.start_epoch = 1;
  return c;
}

} // namespace

TEST_CASE("archive: its answer comes when the disk has the records") {
  fixture f;
  const auto history = a_history();
  const auto done = f.add(history);
  REQUIRE(done.at);
  CHECK(f.stored() == encoded(history));
}

TEST_CASE("archive: what the store refuses is an answer and changes nothing") {
  fixture f;
  REQUIRE(f.add({born(a_candidate(1))}).at);
  const auto before = f.stored();
  CHECK_FALSE(f.add({born(a_candidate(1))}).at); // Nobody is born twice.
  CHECK(f.stored() == before);
}

TEST_CASE("archive: weights and evaluations are found by their candidate") {
  fixture f;
  REQUIRE(f.add({born(a_candidate(1)), evaluated(an_evaluation(1, 0.5), "weights")}).at);
  const auto found = f.ask<fetched_weights>(fetch_weights{1});
  REQUIRE(found.found);
  CHECK(**found.found->load() == "weights");
  CHECK(f.ask<fetched_evaluation>(fetch_evaluation{1}).found->id == 1);
  CHECK_FALSE(f.ask<fetched_evaluation>(fetch_evaluation{2}).found);
}

TEST_CASE("archive: a lineage goes back to the checkpoint that is there") {
  fixture f;
  REQUIRE(f.add({born(a_candidate(1)), born(from(2, 1)), born(from(3, 2))},
                {{1, bytes("one")}})
              .at);
  const auto lineage_of = [&](candidate_id id) {
    return f.ask<fetched_lineages>(fetch_lineages{{id}}).found.value().at(0);
  };
  CHECK(**lineage_of(2).checkpoint.load() == "one");
  CHECK(lineage_of(2).before.empty());
  CHECK(lineage_of(3).before.size() == 1); // Two is trained again, from one.
  REQUIRE(f.add({}, {{2, bytes("two")}}, kept_checkpoints{.of = {2}, .last = 2}).at);
  CHECK(**lineage_of(3).checkpoint.load() == "two");
  CHECK(lineage_of(2).checkpoint.empty()); // That of one was no longer wanted.
}
