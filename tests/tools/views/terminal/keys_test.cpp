#include "tests/tools/views/terminal/made_up_run.hpp"
#include "tools/views/terminal/keys.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::terminal;
using namespace clade::test;

namespace {

struct person {
  run_picture picture = a_picture();
  slots_view slots = some_slots();
  place at = {};
  extent size = {};

  wish presses(key k) {
    return press(at, k,
                 {.picture = picture,
                  .slots = slots,
                  .name = "digits",
                  .showing = feed_state::live},
                 size);
  }
  shown_candidates sees() { return candidates_at(at, picture, size); }
};

reading a_reading(std::vector<candidate_id> parents) {
  return {.id = 55,
          .parents = std::move(parents),
          .lines = std::vector<std::string>(100, "text"),
          .curve = {}};
}

} // namespace

TEST_CASE("keys: numbers and Tab turn to a page") {
  person p;
  (void)p.presses(key::page_4);
  CHECK(p.at.shown == page::candidates);
  (void)p.presses(key::next);
  (void)p.presses(key::next);
  CHECK(p.at.shown == page::failures);
  (void)p.presses(key::next);
  CHECK(p.at.shown == page::overview);
  (void)p.presses(key::previous);
  CHECK(p.at.shown == page::failures);
}

TEST_CASE("keys: q quits, and nothing else does") {
  for (int k = 0; k <= static_cast<int>(key::none); ++k) {
    person p;
    CHECK(p.presses(static_cast<key>(k)).quit == (static_cast<key>(k) == key::quit));
  }
}

TEST_CASE("keys: the latest candidate stays chosen while more are born") {
  person p;
  p.at.shown = page::candidates;
  CHECK(p.sees() == shown_candidates{.top = 77, .count = 19});
  p.picture.born = 90;
  CHECK(p.sees() == shown_candidates{.top = 90, .count = 19});
  CHECK(p.presses(key::enter).open == 90);
}

TEST_CASE("keys: the list stands still under another that is chosen") {
  person p;
  p.at.shown = page::candidates;
  (void)p.presses(key::down);
  (void)p.presses(key::down);
  CHECK(p.at.chosen == 75);
  CHECK(p.sees() == shown_candidates{.top = 77, .count = 19});
  p.picture.born = 120;
  CHECK(p.sees() == shown_candidates{.top = 77, .count = 19});
  CHECK(p.presses(key::enter).open == 75);
  (void)p.presses(key::page_up);
  CHECK(p.sees().top == 93);
}

TEST_CASE("keys: the list of candidates moves by pages and to its ends") {
  person p;
  p.at.shown = page::candidates;
  (void)p.presses(key::end);
  CHECK(p.at.chosen == 1);
  CHECK(p.sees() == shown_candidates{.top = 19, .count = 19});
  (void)p.presses(key::page_up);
  CHECK(p.at.chosen == 19);
  CHECK(p.sees().top == 19);
  (void)p.presses(key::up);
  CHECK(p.sees().top == 20);
  (void)p.presses(key::home);
  CHECK(p.at.chosen == 0);
  CHECK(p.sees().top == 77);
}

TEST_CASE(
    "keys: a run with few candidates shows all of them, and one with none is empty") {
  person p;
  p.at.shown = page::candidates;
  p.picture.born = 3;
  CHECK(p.sees() == shown_candidates{.top = 3, .count = 3});
  (void)p.presses(key::end);
  CHECK(p.sees() == shown_candidates{.top = 3, .count = 3});
  p.picture.born = 0;
  p.at = {.shown = page::candidates};
  CHECK(p.sees() == shown_candidates{});
  CHECK(p.presses(key::enter).open == 0);
  CHECK(p.presses(key::down).open == 0);
}

TEST_CASE("keys: of the front one is chosen, which Enter opens") {
  person p;
  p.at.shown = page::front;
  CHECK(p.presses(key::enter).open == 9);
  (void)p.presses(key::down);
  CHECK(p.presses(key::enter).open == 31);
  (void)p.presses(key::end);
  CHECK(p.presses(key::enter).open == 55);
  p.picture.front.resize(1);
  CHECK(p.presses(key::enter).open == 9);
}

TEST_CASE("keys: b opens the best from anywhere") {
  person p;
  CHECK(p.presses(key::best).open == 55);
  p.picture.best.clear();
  CHECK(p.presses(key::best).open == 0);
  CHECK(p.at.complaint == "no candidate succeeded yet");
  (void)p.presses(key::none);
  CHECK(p.at.complaint.empty());
}

TEST_CASE("keys: an open candidate is read to its end and closed") {
  person p;
  p.at.shown = page::front;
  p.at.open = a_reading({31, 9});
  (void)p.presses(key::end);
  CHECK(p.at.read == 80);
  (void)p.presses(key::up);
  CHECK(p.at.read == 79);
  CHECK(p.presses(key::parent).open == 31);
  (void)p.presses(key::back);
  CHECK_FALSE(p.at.open);
  CHECK(p.at.shown == page::front);
  CHECK(p.at.chosen_of_front == 0);
}

TEST_CASE("keys: one without parents says so") {
  person p;
  p.at.open = a_reading({});
  CHECK(p.presses(key::parent).open == 0);
  CHECK(p.at.complaint == "#55 has no parent");
}

TEST_CASE("keys: a list that fits does not move, and a longer one to its end") {
  person p;
  p.at.shown = page::generations;
  (void)p.presses(key::end);
  CHECK(p.at.skipped[4] == 0);
  p.picture.generations.resize(50);
  (void)p.presses(key::end);
  CHECK(p.at.skipped[4] == 31);
  (void)p.presses(key::page_up);
  CHECK(p.at.skipped[4] == 13);
}

TEST_CASE("keys: of a run of jobs there are three pages") {
  person p;
  p.picture.named_by = "job";
  stay_on_pages(p.at, p.picture);
  CHECK(p.at.shown == page::candidates);
  (void)p.presses(key::page_2);
  CHECK(p.at.shown == page::slots);
  (void)p.presses(key::page_4);
  CHECK(p.at.shown == page::slots);
  (void)p.presses(key::next);
  (void)p.presses(key::next);
  CHECK(p.at.shown == page::candidates);
  CHECK(p.presses(key::enter).open == 0);
  CHECK(p.presses(key::best).open == 0);
  (void)p.presses(key::previous);
  CHECK(p.at.shown == page::failures);
}
