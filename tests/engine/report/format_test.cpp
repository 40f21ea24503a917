#include "engine/report/base/format.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace clade;

TEST_CASE("format: metrics are as long as they are worth") {
  CHECK(metric_text(0.98611) == "0.9861");
  CHECK(metric_text(0) == "0.0000");
  CHECK(metric_text(-12.5) == "-12.5000");
  CHECK(metric_text(0.00001234) == "1.234e-05");
  CHECK(metric_text(302.931) == "302.93");
  CHECK(metric_text(-1302.9331) == "-1,302.9");
  CHECK(metric_text(45357.4) == "45,357");
  CHECK(metric_text(1'234'567.8) == "1,234,568");
  CHECK(metric_text(3e15) == "3e+15");
  CHECK(metric_text(std::optional<double>()) == "-");
}

TEST_CASE("format: durations are told in their own measure") {
  CHECK(duration_text(-1) == "0.0 s");
  CHECK(duration_text(0.44) == "0.4 s");
  CHECK(duration_text(32.4) == "32 s");
  CHECK(duration_text(59.6) == "1 min 00 s");
  CHECK(duration_text(370) == "6 min 10 s");
  CHECK(duration_text(3 * 3600 + 5 * 60) == "3 h 05 min");
  CHECK(duration_text(50 * 3600) == "2 d 2 h");
}

TEST_CASE("format: sizes are told in their own measure") {
  CHECK(size_text(812) == "812 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(902'400'000) == "860.6 MiB");
  CHECK(size_text(3ULL << 50) == "3072.0 TiB");
}

TEST_CASE("format: text that is too long ends in dots and never inside a character") {
  CHECK(shortened("widen", 5) == "widen");
  CHECK(shortened("widen n2", 7) == "wide...");
  CHECK(shortened("éééééééé", 8) == "éééééééé");
  CHECK(shortened("éééééééé", 7) == "éééé...");
}

TEST_CASE("format: columns are as wide as their longest entry") {
  table t({table::align::left, table::align::right, table::align::left});
  t.add({"name", "best", "why"});
  t.add({"é", "0.5", ""});
  t.add_line("and a line over all of them");
  t.add({"longer", "10.25", "so"});
  CHECK(t.to_text(2)
        == "  name     best  why\n"
           "  é         0.5\n"
           "  and a line over all of them\n"
           "  longer  10.25  so\n");
}
