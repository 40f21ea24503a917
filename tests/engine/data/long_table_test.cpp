#include "engine/data/forecast/long_table.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/reading/array_file.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

data_params of_readings() {
  data_params params;
  params.file = "x.csv";
  params.target = "kind";
  params.forecast.series = {"id"};
  params.forecast.time = "t";
  return params;
}

std::vector<double> values_of(const series_set& set, std::size_t series,
                              std::size_t channel) {
  const auto values = set.channel(series, channel);
  return {values.begin(), values.end()};
}

/// Series of two classes, of differing lengths: one rises, the other falls.
std::string readings(int each = 10) {
  std::string text = "id,t,a,b,kind\n";
  for (int i = 0; i < 2 * each; ++i)
    for (int t = 0; t < 5 + i % 4; ++t)
      text += fmt::format("s{},{},{},{},{}\n", i, t, i % 2 == 0 ? t : -t, i + t * t,
                          i % 2 == 0 ? "up" : "down");
  return text;
}

std::string error_of(const std::string& text, const data_params& params = of_readings()) {
  const auto read = read_long_table(text, "x.csv", params);
  return read ? "" : read.error().message;
}

} // namespace

TEST_CASE("long table: rows of a series are its steps, in order of time") {
  const auto read = read_long_table("id,t,a,b,kind\n"
                                    "q,3,30,300,up\np,1,1,10,down\nq,1,10,100,up\n"
                                    "q,2,20,200,up\np,2,2,20,down\n",
                                    "x.csv", of_readings());
  REQUIRE(read);
  CHECK(read->channels == std::vector<std::string>{"a", "b"});
  CHECK(read->keys == std::vector<std::string>{"id"});
  CHECK(read->labels == std::vector<std::vector<std::string>>{{"q"}, {"p"}});
  CHECK(read->set.channels == 2);
  CHECK(values_of(read->set, 0, 0) == std::vector<double>{10, 20, 30});
  CHECK(values_of(read->set, 0, 1) == std::vector<double>{100, 200, 300});
  CHECK(values_of(read->set, 1, 0) == std::vector<double>{1, 2});
  CHECK(read->set.targets == std::vector<std::string>{"up", "down"});
  CHECK(read->set.lines == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("long table: steps that evenly spaced times leave out are gaps") {
  const auto read =
      read_long_table("id,t,a,kind\n"
                      "p,2024-01-01,1,x\np,2024-01-02,2,x\np,2024-01-05,5,x\n"
                      "q,0.1,1,y\nq,0.35,2,y\nq,7.9,3,y\n",
                      "x.csv", of_readings());
  // Dates and numbers cannot both be times.
  REQUIRE_FALSE(read);
  CHECK(
      read.error().message.find("x.csv:5: column 2 (\"t\") is \"0.1\", where a date must "
                                "be")
      != std::string::npos);
  const auto days =
      read_long_table("id,t,a,kind\n"
                      "p,2024-01-01,1,x\np,2024-01-02,2,x\np,2024-01-05,5,x\n",
                      "x.csv", of_readings());
  REQUIRE(days);
  const auto values = values_of(days->set, 0, 0);
  REQUIRE(values.size() == 5);
  CHECK(std::isnan(values[2]));
  CHECK(values[4] == 5);
  const auto uneven = read_long_table("id,t,a,kind\n"
                                      "q,0.1,1,y\nq,0.35,2,y\nq,7.9,3,y\n",
                                      "x.csv", of_readings());
  REQUIRE(uneven);
  CHECK(values_of(uneven->set, 0, 0) == std::vector<double>{1, 2, 3});
  // One step far away makes no million of gaps.
  const auto far = read_long_table("id,t,a,kind\n"
                                   "q,1,1,y\nq,2,2,y\nq,3,3,y\nq,1000000,4,y\n",
                                   "x.csv", of_readings());
  REQUIRE(far);
  CHECK(values_of(far->set, 0, 0).size() == 4);
}

TEST_CASE("long table: without times rows are in order, and blanks are gaps") {
  auto params = of_readings();
  params.forecast.time.clear();
  params.ignore = {"t"};
  const auto read =
      read_long_table("id,t,a,kind\np,9,1,\np,8,,x\np,7,3,x\n", "x.csv", params);
  REQUIRE(read);
  const auto values = values_of(read->set, 0, 0);
  CHECK(values[0] == 1);
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == 3);
  CHECK(read->set.targets == std::vector<std::string>{"x"});
}

TEST_CASE("long table: channels are in order of names, wherever they stand") {
  auto params = of_readings();
  params.columns = {{"v10", encoding_kind::number},
                    {"v2", encoding_kind::number},
                    {"note", encoding_kind::ignore}};
  const auto one =
      read_long_table("id,t,v10,v2,note,kind\np,1,10,2,x,up\n", "x.csv", params);
  REQUIRE(one);
  CHECK(one->channels == std::vector<std::string>{"v2", "v10"});
  const auto other = read_long_table("more,v2,t,v10,id\nx,2,1,10,p\n", "x.csv", params,
                                     long_rows::to_predict);
  REQUIRE(other);
  CHECK(other->channels == one->channels);
  CHECK(other->set.values == one->set.values);
  CHECK(other->set.targets.empty());
}

TEST_CASE("long table: series without a target are left out, unless they are predicted") {
  const std::string text = "id,t,a,kind\np,1,1,up\nq,1,2,\nr,1,3,down\n";
  const auto read = read_long_table(text, "x.csv", of_readings());
  REQUIRE(read);
  CHECK(read->set.count() == 2);
  CHECK(read->without_target == 1);
  const auto all = read_long_table(text, "x.csv", of_readings(), long_rows::to_predict);
  REQUIRE(all);
  CHECK(all->set.count() == 3);
  CHECK(error_of("id,t,a,kind\np,1,1,\n") == "x.csv:1: no series has a target");
}

TEST_CASE("long table: what is wrong is said with its line") {
  CHECK(
      error_of("id,t,a,kind\np,1,1,up\nq,1,1,up\np,1,2,up\n")
      == "x.csv:4: the series \"p\" has this time already, in line 2; say with `series` "
         "which columns tell series apart, or leave one of the rows out");
  CHECK(
      error_of("id,t,a,kind\np,1,1,up\np,2,1,up\np,3,2,down\n")
      == "x.csv:4: the target of the series \"p\" is \"down\", where line 2 says \"up\"; "
         "a series has one target, so that another column may be it, or others tell "
         "series apart");
  CHECK(error_of("id,t,a,kind\np,1,high,up\n")
        == "x.csv:2: column 3 (\"a\") is \"high\", where a number must be; to leave the "
           "column out, ignore = [\"a\"]");
  CHECK(error_of("id,t,a,kind\np,soon,1,up\np,2,1,up\n")
        == "x.csv:2: column 2 (\"t\") is \"soon\", where a number must be");
  CHECK(error_of("id,t,a,kind\n,1,1,up\n")
        == "x.csv:2: column 1 (\"id\"), which names the series of a row, has no value");
  CHECK(error_of("id,t,a,kind\np,1,1,up\np,2\n").find("x.csv:3: 2 columns, where line 1")
        == 0);
  CHECK(error_of("id,t,a,kind\n") != "");
  CHECK(error_of("id,t,kind\np,1,up\n")
        == "x.csv:1: no column of values is left beside the series, their times and the "
           "target");
  auto params = of_readings();
  params.forecast.series = {"idd"};
  CHECK(error_of("id,t,a,kind\np,1,1,up\n", params).find("\"idd\"") != std::string::npos);
  params = of_readings();
  params.task = regression;
  CHECK(error_of("id,t,a,kind\np,1,1,up\n", params)
            .starts_with("x.csv:2: column 4 (\"kind\"), the target, is \"up\", where a"));
  params = of_readings();
  params.forecast.time = "kind";
  CHECK(error_of("id,t,a,kind\np,1,1,up\n", params)
        == "x.csv:1: column 4 (\"kind\") is named twice, as target, time or series");
}

TEST_CASE("long table: words that cannot be meant are refused") {
  auto params = of_readings();
  params.forecast.season = 7;
  CHECK(validate(params).error().message.starts_with(
      "season, step and known are for forecasts"));
  params = of_readings();
  params.forecast.series.clear();
  CHECK(validate(params).error().message.starts_with("time says the order of steps"));
  params = of_readings();
  params.images = "photo";
  CHECK(validate(params).error().message.starts_with("with series, the targets are"));
}

TEST_CASE("long table: its series become examples, and new ones need no target") {
  const scratch_folder folder;
  auto params = of_readings();
  params.file = write(folder, "x.csv", readings());
  CHECK(layout_of(params) == layout::sequence);
  const auto inferred = infer_columns(params);
  REQUIRE(inferred);
  CHECK(inferred->notes.front() == "20 series of 5 to 8 steps, 2 channels: a, b");
  const auto data = load_data(inferred->params, 1, {});
  REQUIRE(data);
  CHECK(data->examples == 20);
  CHECK(data->shape == tensor_shape{{8, 2}});
  CHECK(data->classes == std::vector<std::string>{"down", "up"});
  CHECK(data->by_line);
  const auto how = fit_preprocessing(inferred->params, 1);
  REQUIRE(how);
  const auto file = write(folder, "new.csv",
                          "b;id;a;t\n"
                          "1;m;1,5;2\n0;m;0;1\n3;n;2,25;1\n");
  const auto rows = read_new_examples(file, "", inferred->params, *how);
  REQUIRE(rows);
  CHECK(rows->count == 2);
  CHECK_FALSE(rows->targets);
  CHECK(rows->forecasts.names == std::vector<std::string>{"id"});
  CHECK(rows->forecasts.rows[1].labels == std::vector<std::string>{"n"});
  const auto same = read_new_examples(params.file, "", inferred->params, *how);
  REQUIRE(same);
  REQUIRE(same->targets);
  CHECK(same->targets->values[0] == 1);
  // The rest of a file changes nothing.
  const auto alone =
      read_new_examples(write(folder, "alone.csv",
                              "id,t,a,b\ns0,0,0,0\ns0,1,1,1\ns0,2,2,4\ns0,3,3,9\n"
                              "s0,4,4,16\n"),
                        "", inferred->params, *how);
  REQUIRE(alone);
  CHECK(
      std::equal(alone->features.begin(), alone->features.end(), same->features.begin()));
  const auto lacking = read_new_examples(write(folder, "less.csv", "id,t,a\ns0,0,0\n"),
                                         "", inferred->params, *how);
  REQUIRE_FALSE(lacking);
  CHECK(without(lacking.error().message, folder).find("\"b\"") != std::string::npos);
}

TEST_CASE("long table: parts keep groups of series together") {
  const scratch_folder folder;
  std::string text = "id,t,a,who,kind\n";
  for (int i = 0; i < 30; ++i)
    for (int t = 0; t < 4; ++t)
      text +=
          fmt::format("{},{},{},w{},{}\n", i, t, i * t, i / 3, i % 2 == 0 ? "x" : "y");
  auto params = of_readings();
  params.file = write(folder, "x.csv", text);
  params.split_by = split_rule::group;
  params.split_column = "who";
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{4, 1}});
  for (const auto i : data->test)
    for (const auto j : data->train)
      CHECK(i / 3 != j / 3);
  params.file = write(folder, "torn.csv", text + "0,9,1,other,x\n");
  const auto torn = load_data(params, 1, {});
  REQUIRE_FALSE(torn);
  CHECK(torn.error().message.find("by which series are grouped, is \"other\" here")
        != std::string::npos);
}

TEST_CASE("long table: lengths that differ by a thousand are bounded, and said") {
  const scratch_folder folder;
  std::string text = "id,t,a,kind\n";
  for (int i = 0; i < 40; ++i)
    for (int t = 0; t < (i == 0 ? 4000 : 4); ++t)
      text += fmt::format("{},{},{},{}\n", i, t, i * t, i % 2 == 0 ? "x" : "y");
  const auto p = profile_data({.file = write(folder, "x.csv", text),
                               .target = "kind",
                               .forecast = {.series = {"id"}}});
  REQUIRE(p);
  CHECK(p->shape == tensor_shape{{832, 1}});
  CHECK(p->forecast.time == "t");
  const auto lines = suspicion_lines(*p);
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("series have 4 to 4,000 steps, 104 in the mean; each is");
  }));
}

TEST_CASE("long table: a look at it finds times, channels and what is left out") {
  const scratch_folder folder;
  std::string text = "id,time,a,place,kind\n";
  for (int i = 0; i < 24; ++i)
    for (int t = 0; t < 6; ++t)
      text += fmt::format("s{},{},{},here{},{}\n", i, t, i * t % 7, t, i % 3 + 1);
  const auto file = write(folder, "x.csv", text);
  const auto p =
      profile_data({.file = file, .target = "", .forecast = {.series = {"id"}}});
  REQUIRE(p);
  CHECK(p->rows == 24);
  CHECK(p->shape == tensor_shape{{6, 1}});
  CHECK(p->series());
  CHECK(p->task == classification);
  CHECK(p->classes.size() == 3);
  CHECK(p->classes.front().count == 8);
  CHECK(p->split == split_kind::stratified);
  CHECK(p->forecast.time == "time");
  const auto lines = suspicion_lines(*p);
  CHECK(std::ranges::count(lines,
                           "1 column is left out, as series are of numbers: \"place\"")
        == 1);
  const auto refused = [&](const profile_request& request) {
    const auto found = profile_data(request);
    return found ? "profile" : without(found.error().message, folder);
  };
  CHECK(refused({.file = file, .forecast = {.series = {"who"}}})
        == "x.csv: --series \"who\" names no column; there are \"id\", \"time\", \"a\", "
           "\"place\", \"kind\"");
  CHECK(refused({.file = file, .forecast = {.series = {"kind"}}})
        == "x.csv: --series \"kind\" names the target; say another one with --target");
  const auto single =
      write(folder, "rows.csv", "id,a,b,kind\n1,2,3,x\n2,3,4,y\n3,1,2,x\n");
  CHECK(
      refused({.file = single, .target = "kind", .forecast = {.series = {"id"}}})
      == "rows.csv: each series has one row, so that this is a table of rows; leave out "
         "--series, or name another column than \"id\"");
}

TEST_CASE("long table: rows of one group with one target are a hint at series") {
  const scratch_folder folder;
  std::string text = "id,t,a,b,kind\n", torn = text;
  for (int i = 0; i < 40; ++i)
    for (int t = 0; t < 6; ++t) {
      text += fmt::format("s{},{},{},{},{}\n", i, t, i * t % 7, i + t, i % 2);
      torn += fmt::format("s{},{},{},{},{}\n", i, t, i * t % 7, i + t, (i + t) % 2);
    }
  const auto hints = [&](const std::string& of) {
    const auto p = profile_data({.file = write(folder, "x.csv", of), .target = "kind"});
    REQUIRE(p);
    return std::ranges::count(
        suspicion_lines(*p),
        "all rows of one \"id\" have the same target: if they are the steps of a series, "
        "--series id makes each series one example");
  };
  CHECK(hints(text) == 1);
  CHECK(hints(torn) == 0);
}
