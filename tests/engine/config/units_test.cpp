#include "engine/config/file/units.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("units: times are numbers with units") {
  CHECK(parse_duration("2min") == 2min);
  CHECK(parse_duration("1h30min") == 90min);
  CHECK(parse_duration("1h 30min") == 90min);
  CHECK(parse_duration("1.5h") == 90min);
  CHECK(parse_duration("250 ms") == 250ms);
  CHECK(parse_duration("20us") == 20us);
  CHECK(parse_duration("0.000001s") == 1us);
  CHECK(parse_duration("0s") == 0s);
  CHECK(parse_duration("3d") == 72h);
}

TEST_CASE("units: sizes are one number with a unit") {
  CHECK(parse_size("2GiB") == std::uint64_t{2} << 30);
  CHECK(parse_size("1.5kB") == 1500u);
  CHECK(parse_size("512 MiB") == std::uint64_t{512} << 20);
  CHECK(parse_size("7B") == 7u);
}

TEST_CASE("units: what is no time or size is answered with an example") {
  for (const char* wrong : {"", "2", "min", "2 minutes", "-1s", "1.5us", "2min,", ".5h",
                            "1.h", "1..5h", "99999999999999999999d", "5000000000000h"})
    CHECK(parse_duration(wrong).error().message
          == "\"" + std::string(wrong)
                 + "\" is not a time; write \"90s\", \"2min\" or \"1h30min\" (units: us, "
                   "ms, s, "
                   "min, h, d)");
  for (const char* wrong : {"", "2", "2Gib", "2G", "1GiB 2MiB", "0.3B", "9999999999TiB"})
    CHECK(parse_size(wrong).error().message
          == "\"" + std::string(wrong)
                 + "\" is not a size; write \"512MiB\" or \"2GiB\" (units: B, kB, MB, "
                   "GB, TB, "
                   "KiB, MiB, GiB, TiB)");
}

TEST_CASE("units: what is written parses to the same") {
  CHECK(duration_literal(90min) == "90min");
  CHECK(duration_literal(2h) == "2h");
  CHECK(duration_literal(0us) == "0s");
  CHECK(size_literal(std::uint64_t{3} << 30) == "3GiB");
  CHECK(size_literal(1000) == "1000B");
  CHECK(size_literal(0) == "0B");
  CHECK(rc::check([] {
    const auto n = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62);
    RC_ASSERT(parse_duration(duration_literal(std::chrono::microseconds(n)))
              == std::chrono::microseconds(n));
    RC_ASSERT(parse_size(size_literal(static_cast<std::uint64_t>(n)))
              == static_cast<std::uint64_t>(n));
  }));
}

TEST_CASE("units: any text is a quantity or an error") {
  CHECK(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element(
        '0', '1', '9', '.', ' ', 's', 'm', 'i', 'n', 'h', 'B', 'G', 'M'));
    const auto time = parse_duration(text);
    RC_ASSERT(!time || time->count() >= 0);
    const auto size = parse_size(text);
    RC_ASSERT(!size || *size <= std::uint64_t{1} << 62);
  }));
}
