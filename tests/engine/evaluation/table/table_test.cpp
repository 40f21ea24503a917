#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace clade;

namespace {

benchmark_table must_read(const std::string& description,
                          const std::vector<std::string>& files) {
  auto t = read_table(description, files);
  if (!t)
    FAIL(t.error().message);
  return std::move(*t);
}

const std::string points = R"(files = ["x.csv"]
lookup = "nearest"
[hyperparameters]
rate = {low = 1e-4, high = 1.0, log = true}
size = {low = 0, high = 100}
kind = ["a", "b"]
depth = [1, 2, 4]
[objective]
minimize = "validation.loss"
[metrics]
validation.loss = "loss"
)";

const std::string point_rows = "rate,size,kind,depth,loss\n"
                               "0.0001,0,a,1,1\n"
                               "0.01,50,a,2,2\n"
                               "1,100,a,4,3\n"
                               "0.01,50,b,2,4\n";

std::optional<std::uint32_t> nearest_to(const benchmark_table& t, double rate,
                                        std::int64_t size, const char* kind,
                                        std::int64_t depth) {
  return t.find(with_settings(
      {{"rate", rate}, {"size", size}, {"kind", std::string(kind)}, {"depth", depth}}));
}

} // namespace

TEST_CASE("table: a setting finds its row by the digits of its key") {
  const auto t = must_read(small_description, {small_rows});
  CHECK(t.rows() == 5);
  CHECK(t.find(small_genome("conv", 8)) == 0u);
  CHECK(t.find(small_genome("conv", 32)) == 2u);
  CHECK(t.find(small_genome("pool", 16)) == 4u);
  CHECK(t.find(small_genome("pool", 32)) == std::nullopt);
  CHECK(t.find(small_genome("pool", 9)) == std::nullopt);
  CHECK(t.find(with_settings({{"op", std::string("conv")}})) == std::nullopt);
}

TEST_CASE("table: values are those of a fidelity and a seed, blanks left out") {
  const auto t = must_read(small_description, {small_rows});
  const auto accuracy = *t.metric("validation.accuracy");
  const auto drawn = [&](std::uint32_t row) {
    std::set<double> all;
    for (std::uint64_t draw = 0; draw < 8; ++draw)
      if (const auto v = t.value({row, accuracy, 1}, draw))
        all.insert(*v);
    return all;
  };
  CHECK(drawn(0) == std::set<double>{20, 22});
  CHECK(drawn(1) == std::set<double>{30});
  CHECK(drawn(2) == std::set<double>{33, std::numeric_limits<double>::infinity()});
  CHECK(drawn(4).empty());
  CHECK(t.value({1, accuracy, 0}, 7) == 11.0);
  CHECK(t.mean({0, accuracy, 1}) == 21.0);
  CHECK(t.mean({1, accuracy, 1}) == 30.0);
  CHECK(t.mean({4, accuracy, 1}) == std::nullopt);
  CHECK(std::isinf(*t.mean({2, accuracy, 1})));
  CHECK(t.truth(3) == 41.0);
}

TEST_CASE("table: cost is in proportion to the fidelity") {
  const auto t = must_read(small_description, {small_rows});
  const auto seconds = *t.metric("seconds");
  CHECK(t.value({1, seconds, 1}, 0) == 8.0);
  CHECK(t.value({1, seconds, 0}, 0) == 2.0);
}

TEST_CASE("table: a fidelity is the greatest of at most so many epochs") {
  const auto t = must_read(small_description, {small_rows});
  CHECK(t.fidelity(9) == std::nullopt);
  CHECK(t.fidelity(10) == 0u);
  CHECK(t.fidelity(39) == 0u);
  CHECK(t.fidelity(40) == 1u);
  CHECK(t.fidelity(1000) == 1u);
}

TEST_CASE("table: without a digits column every parameter has its own") {
  const auto text = with(with(small_description, "column = \"config\"\n", ""),
                         "digits = [\"op\", \"width\"]", "columns = {op = \"the op\"}");
  const auto t = must_read(
      text, {"the op,width,acc10,acc40_s0,acc40_s1,test,time\npool,8,1,2,3,4,5\n"
             "conv,16,1,2,3,4,5\nconv,32.0,1,2,3,4,5\n"});
  CHECK(t.find(small_genome("pool", 8)) == 0u);
  CHECK(t.find(small_genome("conv", 32)) == 2u);
  CHECK(error_of(text, {"the op,width,acc10,acc40_s0,acc40_s1,test,time\n"
                        "pool,9,1,2,3,4,5\n"})
        == "x.csv:2: width is \"9\", which t.toml:9 does not allow");
}

TEST_CASE("table: a parameter that does not apply has a blank cell") {
  const auto text =
      with(with(with(small_description, "column = \"config\"\n", ""),
                "digits = [\"op\", \"width\"]", ""),
           "width = [8, 16, 32]", "width = {choice = [8, 16], when = {op = \"conv\"}}");
  const auto t =
      must_read(text, {"op,width,acc10,acc40_s0,acc40_s1,test,time\n"
                       "conv,8,1,2,3,4,5\nconv,16,1,2,3,4,5\npool,,1,2,3,4,5\n"});
  CHECK(t.find(with_settings({{"op", std::string("pool")}})) == 2u);
  CHECK(t.find(small_genome("conv", 16)) == 1u);
}

TEST_CASE("table: the nearest row is that of scaled parameters") {
  const auto t = must_read(points, {point_rows});
  CHECK(nearest_to(t, 0.0001, 0, "a", 1) == 0u);
  CHECK(nearest_to(t, 0.02, 45, "a", 2) == 1u);
  CHECK(nearest_to(t, 0.9, 90, "a", 4) == 2u);
  // Another choice is further away than the whole of a range.
  CHECK(nearest_to(t, 0.02, 45, "b", 2) == 3u);
  // By the logarithm 0.003 is nearer to 0.01 than to 0.0001.
  CHECK(nearest_to(t, 0.003, 25, "a", 2) == 1u);
  CHECK(nearest_to(t, 2.0, 25, "a", 2) == std::nullopt);
}

TEST_CASE("table: what is wrong with a row is said with its line") {
  const auto with_row = [&](const std::string& row) {
    return error_of(small_description, {small_rows + row});
  };
  CHECK(with_row("12,1,2,3,4,5\n") == "no error");
  CHECK(with_row("00,1,2,3,4,5\n") == "x.csv:7: has the same setting as line 2");
  CHECK(with_row("12,1,fast,3,4,5\n")
        == "x.csv:7: acc40_s0 is \"fast\", which is no number");
  CHECK(with_row("12,1,2,3\n") == "x.csv:7: has 4 fields, but the header names 6");
  CHECK(with_row("13,1,2,3,4,5\n")
        == "x.csv:7: config is \"13\": digit 2 is none of the 3 values of width");
  CHECK(with_row("1,1,2,3,4,5\n") == "x.csv:7: config is \"1\": it must have 2 digits");
  CHECK(with_row("\"12,1,2,3,4,5\n")
        == "x.csv:7: a quote is opened here and never closed");
}

TEST_CASE("table: what its files do not have is said with the description's line") {
  CHECK(error_of(with(small_description, "acc10", "acc11"), {small_rows})
        == "t.toml:14: x.csv has no column \"acc11\"; did you mean \"acc10\"?");
  CHECK(error_of(with(small_description, "column = \"config\"", "column = \"arch\""),
                 {small_rows})
        == "t.toml:6: x.csv has no column \"arch\"; it has \"config\", \"acc10\", "
           "\"acc40_s0\", \"acc40_s1\", \"test\", \"time\"");
  CHECK(error_of(with(small_description, "32]", "32, 64]"), {small_rows})
        == "t.toml:10: width may be 64, which no row of x.csv has");
  CHECK(error_of(small_description, {"config,acc10,acc40_s0,acc40_s1,test,time\n"})
        == "x.csv:2: has a header and no rows");
  CHECK(error_of(small_description, {""})
        == "x.csv:1: is empty: it has no header and no rows");
  CHECK(error_of(small_description, {with(small_rows, "test", "time")})
        == "x.csv:1: names the column \"time\" twice");
}

TEST_CASE("table: row i of several files is about the same setting") {
  const std::string first =
      "config,acc10,acc40_s0,acc40_s1\n00,1,2,3\n11,4,5,6\n02,1,1,1\n";
  const std::string second = "config,test,time\n00,7,8\n11,9,10\n02,1,1\n";
  const auto t = must_read(small_description, {first, second});
  CHECK(t.truth(1) == 9.0);
  CHECK(
      error_of(small_description, {first, with(second, "11", "01")})
      == "y.csv:3: \"config\" is \"01\", but \"11\" in x.csv:3: row i of each file must "
         "be about the same setting");
  CHECK(error_of(small_description, {first, with(second, "02,1,1\n", "")})
        == "y.csv:4: ends here, but x.csv has more rows, and row i of each file is about "
           "the same setting");
}

TEST_CASE("table: its checksum is of all that was read") {
  const auto sum = [](const std::string& description, const std::string& rows) {
    return must_read(description, {rows}).checksum();
  };
  CHECK(sum(small_description, small_rows) == sum(small_description, small_rows));
  CHECK(sum(small_description, small_rows)
        != sum(small_description, with(small_rows, "51", "52")));
  CHECK(sum(small_description, small_rows)
        != sum(with(small_description, "cost = \"time\"\n", ""), small_rows));
}
