#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/series_set.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

using namespace clade;

namespace {

/// A series a line, "1 2|3 4 = a": its channels and its target.
std::string to_text(const series_set& set) {
  std::string out;
  for (std::size_t i = 0; i < set.count(); ++i) {
    for (std::size_t c = 0; c < set.channels; ++c)
      out += fmt::format("{}{}", c == 0 ? "" : "|", fmt::join(set.channel(i, c), " "));
    out += set.targets.empty() ? "\n" : " = " + set.targets[i] + "\n";
  }
  return out;
}

std::string read(const std::string& text) {
  const auto set = parse_series(text, "x");
  return set ? to_text(*set) : set.error().message;
}

std::string ts(const std::string& header, const std::string& series) {
  return "@problemName Gun\n" + header + "@data\n" + series;
}

const std::string with_classes = "@classLabel true a b\n";

const std::string relational_arff = "% made\n@relation 'two channels'\n\n"
                                    "@ATTRIBUTE relationalAtt relational\n"
                                    "  @attribute att0 numeric\n"
                                    "  @attribute att1 numeric\n"
                                    "@end relationalAtt\n"
                                    "@attribute activity {Standing,Running}\n@data\n";

std::string steps_arff(const std::string& name, const std::string& last) {
  std::string out = "@relation Gun\n";
  for (int i = 1; i <= 4; ++i)
    out += fmt::format("@attribute {}{} numeric\n", name, i);
  return out + last + "@data\n";
}

} // namespace

TEST_CASE("series: a line of a .ts file is its channels and its class") {
  CHECK(read("# made by hand\n\n" + ts(with_classes, "1,2.5,-3e1:a\n 4,5,6 : b\r\n"))
        == "1 2.5 -30 = a\n4 5 6 = b\n");
  CHECK(read("\xef\xbb\xbf" + ts(with_classes, "1,2:3,4:a\n5,6,7:8:b\n"))
        == "1 2|3 4 = a\n5 6 7|8 = b\n");
  CHECK(read(ts("@CLASSLABEL false\n", "1,2:3,4\n5:6\n")) == "1 2|3 4\n5|6\n");
  CHECK(read(ts("@targetLabel true\n", "1,2:0.5\n")) == "1 2 = 0.5\n");
  CHECK(read(ts("@missing true\n" + with_classes, "1,?,NaN:a\n")) == "1 nan nan = a\n");
}

TEST_CASE("series: a header that says nothing of a class leaves it to the first series") {
  CHECK(read(ts("", "1,2:3\n")) == "1 2 = 3\n");
  CHECK(read(ts("", "1,2\n")) == "1 2\n");
  CHECK(read(ts("", "1,2:3,4\n")) == "1 2|3 4\n");
}

TEST_CASE("series: the header says the task") {
  const auto task = [](const std::string& header) {
    return parse_series(ts(header, "1,2:3\n"), "x")->task;
  };
  CHECK(task("@classLabel true 3 4\n") == classification);
  CHECK(task("@classLabel false\n@targetLabel true\n") == regression);
  CHECK(task("") == std::nullopt);
}

TEST_CASE("series: what is wrong with a .ts file is named with its line") {
  CHECK(read(ts(with_classes, "1,2:3,4:a\n1,2:b\n"))
        == "x:5: has 1 channel, where line 4 has 2");
  CHECK(read(ts(with_classes, "1,x:a\n"))
        == "x:4: channel 1, step 2 is \"x\", where a number must be; a missing value is "
           "written ?");
  CHECK(read(ts(with_classes, "1,inf:a\n"))
        == "x:4: channel 1, step 2 is \"inf\", which is not a finite number");
  CHECK(read(ts(with_classes, "1:1e39:a\n")).starts_with("x:4: channel 2, step 1"));
  CHECK(read(ts(with_classes, "1::a\n"))
        == "x:4: channel 2 has no value; a missing one is written ?");
  CHECK(read(ts(with_classes, "1,2,3\n"))
        == "x:4: has no class (or number) behind its last \":\", where other series or "
           "the header have one; of a class that is not known write ?");
  CHECK(read(ts(with_classes, "(0,1),(1,2):a\n"))
        == "x:4: gives each value with its time, \"(time,value)\", which is not read; "
           "write the values alone, in equal steps of time");
  CHECK(read(ts("@timeStamps true\n", "")).starts_with("x:2: gives each value"));
  CHECK(read(ts(with_classes, "")) == "x: holds no series; they follow the line @data");
  CHECK(read("@problemName x\n")
        == "x:1: is the last line, and none was @data, behind which the series stand");
  CHECK(read("@problemName x\n1,2:a\n")
        == "x:2: stands before the line @data, and does not begin with @ or #");
}

TEST_CASE("series: an ARFF file has its channels in quotes, or an attribute a step") {
  CHECK(read(relational_arff + "'1,2\\n3,4',Standing\n\"5,?\\n6,7\",'Running'\n")
        == "1 2|3 4 = Standing\n5|6 7 = Running\n");
  CHECK(read(steps_arff("att", "@attribute target {1,2}\n") + "1,2,3,4,1\n5,?,7,?,2\n")
        == "1 2 3 4 = 1\n5 nan 7 = 2\n");
  CHECK(read(steps_arff("t_", "@attribute value numeric\n") + "1,2,3,4,0.5\n")
        == "1 2 3 4 = 0.5\n");
  CHECK(read(steps_arff("att", "") + "1,2,3,4\n?,?,?,?\n")
        == "1 2 3 4\nnan nan nan nan\n");
}

TEST_CASE("series: what is wrong with an ARFF file is named with its line") {
  CHECK(read(relational_arff + "1,2,Standing\n")
        == "x:10: does not begin with a series in quotes");
  CHECK(read(relational_arff + "'1,2\\n3,4'\n")
        == "x:10: has no class (or number) behind its series; write ? where it is not "
           "known");
  CHECK(read(steps_arff("att", "@attribute target {1,2}\n") + "1,2,3,1\n")
        == "x:8: has 4 values, where the header has 5 attributes");
  CHECK(read(steps_arff("att", "@attribute target {1,2}\n") + "{0 1}\n")
        == "x:8: has a row in braces, where the header has 5 attributes");
}

TEST_CASE("series: a file of them is known by its header, whatever its name is") {
  const auto is_series = [](const std::string& text) {
    return format_of("x.csv", text) == data_format::series;
  };
  CHECK(is_series("#a comment\n\n@problemName x\n"));
  CHECK(is_series("@timestamps false\n"));
  CHECK(is_series(relational_arff));
  CHECK(is_series(steps_arff("att", "@attribute target {1,2}\n")));
  CHECK(is_series(steps_arff("time", "@attribute kind {1,2}\n")));
  // Tables.
  CHECK_FALSE(is_series("@timestamp,level\n1,2\n"));
  CHECK_FALSE(is_series(steps_arff("att", "@attribute class {1,2}\n")));
  CHECK_FALSE(is_series(steps_arff("V", "@attribute target {1,2}\n")));
  CHECK_FALSE(is_series("@relation iris\n@attribute a numeric\n@data\n1\n"));
  CHECK_FALSE(is_series(""));
}

TEST_CASE("series: the beginning of a long header tells as much as all of it") {
  std::string text = "@relation long\n";
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("@attribute att{} numeric\n", i);
  text += "@attribute target {1,2}\n@data\n";
  REQUIRE(text.size() > telling_bytes);
  CHECK(looks_like_series(text));
  CHECK(looks_like_series(text.substr(0, telling_bytes)));
}

TEST_CASE("series: any text behind a header gives series or an error") {
  rc::check("any text gives series or an error", [] {
    const auto body = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("0123456789.,:?-e'\"\\n ab(){}#\n\n\n@")));
    for (const auto& head :
         {std::string("@problemName x\n@data\n"), ts(with_classes, ""), relational_arff,
          steps_arff("att", "@attribute target {1,2}\n")}) {
      const auto set = parse_series(head + body, "x");
      if (!set) {
        RC_ASSERT(!set.error().message.empty());
        continue;
      }
      RC_ASSERT(set->count() > 0U && set->ends.size() == set->count() * set->channels);
      RC_ASSERT(set->ends.back() == set->values.size());
      RC_ASSERT(set->targets.empty() || set->targets.size() == set->count());
    }
  });
}
