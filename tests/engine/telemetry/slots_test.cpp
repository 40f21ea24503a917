#include "engine/telemetry/picture/slots.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::vector<bool> of(const std::vector<double>& waits) {
  return awaited(waits);
}

slot_view at(candidate_id training, std::uint32_t member, double waits) {
  return {.name = "cpu:" + std::to_string(member),
          .training = training,
          .team = {.member = member, .members = 3, .waits = waits}};
}

std::string awaited_in(const slots_view& view) {
  std::string names;
  for (const auto& s : view.slots)
    if (s.team.awaited)
      names += s.name + " ";
  return names;
}

} // namespace

TEST_CASE("slots: the others wait for the member that waits a fifth less than they do") {
  CHECK(of({0.02, 0.4, 0.5}) == std::vector{true, false, false});
  CHECK(of({0.4, 0.5, 0.02}) == std::vector{false, false, true});
  CHECK(of({0.31, 0.5, 0.52}) == std::vector{false, false, false});
  CHECK(of({0.3, 0.02}) == std::vector{false, true});
  CHECK(of({0.3, 0.6, 0.55, 0.58}) == std::vector{true, false, false, false});
}

TEST_CASE(
    "slots: several may be awaited, but a team of which most are slow awaits none") {
  CHECK(of({0.05, 0.6, 0.05, 0.6, 0.6}) == std::vector{true, false, true, false, false});
  CHECK(of({0.05, 0.6, 0.05}) == std::vector{false, false, false});
  CHECK(of({0.05, 0.6, 0.05, 0.6}) == std::vector{true, false, true, false});
  CHECK(of({0.0}) == std::vector{false});
  CHECK(of({}).empty());
}

TEST_CASE("slots: members are compared with those of their own team") {
  slots_view v{.slots = {at(1, 1, 0.5), at(2, 2, 0.1), at(1, 3, 0.1), at(2, 3, 0.12)}};
  v.slots.push_back({.name = "idle"});
  find_awaited(v, 3, 0);
  CHECK(awaited_in(v) == "cpu:3 ");
  CHECK(v.slots[2].team.awaited);
}

TEST_CASE("slots: servers wait by their nature, and nobody is compared with them") {
  slots_view v{.slots = {at(1, 1, 0.9), at(1, 2, 0.1), at(1, 3, 0.12)}};
  find_awaited(v, 3, 1);
  CHECK(awaited_in(v).empty());
  v.slots[2].team.waits = 0.5;
  find_awaited(v, 3, 1);
  CHECK(awaited_in(v) == "cpu:2 ");
  // Two members do the parts of three.
  for (auto& s : v.slots)
    s.team.members = 2;
  find_awaited(v, 3, 1);
  CHECK(awaited_in(v).empty());
}

TEST_CASE("slots: what a member does is a line") {
  const team_share t{.member = 2,
                     .members = 3,
                     .steps = 14.23,
                     .bytes = 3.1 * 1024 * 1024,
                     .waits = 0.123};
  CHECK(to_text(t) == "2 of 3, 14.2 steps/s, 3.1 MiB/s, waits 12 %");
  auto slow = t;
  slow.awaited = true;
  CHECK(to_text(slow) == to_text(t) + ", the others wait for it");
}
