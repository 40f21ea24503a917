#include "tools/queue/processes/rank_lines.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <vector>

using namespace clade;

namespace {

/// Returns the lines that the filter finds in a text that comes in pieces of this size.
std::string found(std::size_t rank, const std::string& text, std::size_t piece) {
  rank_filter filter(rank);
  std::string all;
  for (std::size_t at = 0; at < text.size(); at += piece)
    all += filter.add(text.substr(at, piece));
  return all + filter.finish();
}

} // namespace

TEST_CASE("rank lines: each rank's lines are found again, however they come") {
  CHECK(rc::check([] {
    const auto ranks = *rc::gen::container<std::vector<std::uint8_t>>(
        rc::gen::inRange<std::uint8_t>(0, 12));
    const auto piece = *rc::gen::inRange<std::size_t>(1, 30);
    std::vector<std::string> written(12);
    std::string log;
    for (const auto rank : ranks) {
      const auto line =
          *rc::gen::container<std::string>(rc::gen::elementOf(std::string("01: ab\r")))
          + "\n";
      written[rank] += line;
      log += rank_label(rank) + line;
    }
    for (std::size_t rank = 0; rank < written.size(); ++rank)
      RC_ASSERT(found(rank, log, piece) == written[rank]);
  }));
}

TEST_CASE("rank lines: srun's zeros are no part of the number") {
  CHECK(found(2, "02: a\n12: b\n20: c\n2: d", 100) == "a\nd");
}

TEST_CASE("rank lines: what has no label is nobody's") {
  CHECK(found(0, "srun: error\n: x\n0:y\n0 z\n\n0: mine\n", 3) == "mine\n");
}
