#include "engine/run/records/annotations.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

instruction written(instruction_kind kind, candidate_id id, std::string text) {
  return {.kind = kind, .number = id, .text = std::move(text)};
}

annotations fold(const std::vector<instruction>& orders) {
  annotations known;
  std::int64_t unix_ms = 1000;
  for (const auto& order : orders)
    annotate(known, {.order = order, .who = "ada"}, unix_ms++);
  return known;
}

std::string refusal(const instruction& i, const annotations& known = {}) {
  const auto right = check_annotation(i, known, 9);
  return right ? "" : right.error().message;
}

constexpr auto note = instruction_kind::note, tag = instruction_kind::tag,
               untag = instruction_kind::untag;

} // namespace

TEST_CASE("annotations: the latest note holds, and tags come and go") {
  const auto known = fold({written(note, 3, "first"), written(tag, 3, "good"),
                           written(tag, 0, "baseline"), written(note, 3, "small"),
                           written(tag, 3, "also"), written(untag, 0, "baseline")});
  REQUIRE(known.size() == 1);
  CHECK(known.at(3)
        == annotation{
            .note = "small", .who = "ada", .unix_ms = 1003, .tags = {"also", "good"}});
  CHECK(tags_text(known.at(3)) == "also good");
}

TEST_CASE("annotations: nothing is left where all was taken away") {
  CHECK(fold({written(note, 3, "x"), written(note, 3, ""), written(tag, 3, "t"),
              written(untag, 3, "t")})
            .empty());
}

TEST_CASE("annotations: other orders change nothing") {
  CHECK(fold({{.kind = instruction_kind::hold}, written(instruction_kind::drop, 3, "x")})
            .empty());
}

TEST_CASE("annotations: what is too long or not to be printed is refused") {
  CHECK(refusal(written(note, 9, "fine\nin two lines <b>")).empty());
  CHECK(refusal(written(note, 9, "")).empty());
  CHECK(refusal(written(tag, 0, "größer<b>")).empty());
  CHECK(refusal(written(note, 10, "x")) == "there is no candidate #10");
  CHECK(refusal(written(note, 1, std::string(1 << 20, 'x')))
        == "a note has at most 2000 bytes; this one has 1048576");
  CHECK(refusal(written(note, 1, "\x1b[2J"))
        == "a note is UTF-8 without control characters");
  for (const auto& word :
       {std::string(), std::string("two words"), std::string("a,b"), std::string("\"a"),
        std::string("a\nb"), std::string("\xff"), std::string(41, 'x')}) {
    INFO(word);
    CHECK(refusal(written(tag, 1, word)).starts_with("a tag is one word of at most 40"));
  }
}

TEST_CASE("annotations: a tag is given once, taken where it is, and they are few") {
  auto known = fold({written(tag, 3, "good")});
  CHECK(refusal(written(tag, 3, "good"), known) == "#3 has the tag good already");
  CHECK(refusal(written(untag, 0, "good"), known) == "the run has no tag good");
  CHECK(refusal(written(untag, 3, "good"), known).empty());
  for (std::size_t i = 1; i < annotation::most_tags; ++i)
    annotate(known, {.order = written(tag, 3, "t" + std::to_string(i)), .who = "ada"}, 0);
  CHECK(refusal(written(tag, 3, "more"), known)
        == "#3 has 20 tags, which is the most: take one away first");
}

TEST_CASE("annotations: the digest of a run does not know them") {
  REQUIRE(rc::check([] {
    const auto kind = *rc::gen::element(note, tag, untag);
    const record r = operator_command{written(kind, *rc::gen::inRange<candidate_id>(0, 9),
                                              *rc::gen::arbitrary<std::string>()),
                                      "ada"};
    digest d;
    d.add(r);
    RC_ASSERT(d == digest{});
    const auto again = decode_record(encode(r));
    RC_ASSERT(again.has_value());
    RC_ASSERT(encode(*again) == encode(r));
  }));
}
