#include "tests/tools/views/terminal/made_up_run.hpp"
#include "tools/views/terminal/pages.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;
using namespace clade::terminal;
using namespace clade::test;

namespace {

/// A page of a run as it is seen.
struct seen {
  run_picture picture = a_picture();
  slots_view slots = some_slots();
  feed_state showing = feed_state::live;
  glyphs with = glyphs::ascii;
  std::map<std::string, epoch_event> epochs = {};
  std::map<candidate_id, std::string> names = {};
  std::set<candidate_id> open = {};
  place at = {};

  [[nodiscard]] canvas drawn(extent size = {}) const {
    const utc zone;
    auto rows = some_rows(picture.born, static_cast<std::size_t>(list_rows(size)));
    for (auto& row : rows)
      if (open.contains(row.line.id))
        row.line.evaluated_ms = 0;
    const scene s{.picture = picture,
                  .slots = slots,
                  .name = "digits",
                  .showing = showing,
                  .rows = std::move(rows),
                  .epochs = epochs,
                  .names = names,
                  .glyphs = with};
    return draw(s, at, size);
  }
  [[nodiscard]] std::string text(extent size = {}) const {
    return "\n" + to_text(drawn(size));
  }
};

seen page_of(page p) {
  seen s;
  s.at.shown = p;
  return s;
}

std::string line_of(const std::string& text, std::size_t number) {
  std::size_t begin = 1;
  for (std::size_t i = 0; i < number; ++i)
    begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

} // namespace

TEST_CASE("overview: fitness by generation and the latest evaluations, in Braille") {
  auto s = page_of(page::overview);
  s.with = glyphs::unicode;
  CHECK(s.text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
validation.accuracy  best  median  quartiles
0.9100┤                                                     ⢀⣀⣀⣀⣀⣀⡤⠤⠤⠤⠤⠖⠒⠒⠒⠒⠋⠉⠉
      │                                  ⣀⣀⣀⣀⣠⠤⠤⠤⠤⠴⠒⠒⠒⠒⠚⠉⠉⠉⠉⠉⢄⢔⢔⢔⢔⢔⢔⢕⢀⣀⣀⣀⣀⣀⡤⠤⠤⠤
      │                   ⣀⣀⣀⣀⡤⠤⠤⠴⠒⠒⠒⠚⠉⠉⠉⠁⢔⢔⢔⢔⢔⢕⢕⣀⣀⣀⣀⣀⡤⠤⠤⠤⠤⠴⠒⠒⠒⠒⠚⠉⠉⠉⠉⠉⢕⢕⢕⢕⢕⢕⢕⢕⢕
      │    ⢀⣀⣀⣀⡤⠤⠤⠤⠖⠒⠒⠚⠉⠉⠉⠁⢔⢔⢔⢔⢕⢀⣀⣀⣀⣠⠤⠤⠤⠖⠒⠒⠒⠋⠉⠉⠉⠉⠁⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⠕
0.6014┤⠒⠋⠉⠉⠉⢔⢔⢔⢔⢔⢕⣀⣀⣀⣠⠤⠤⠤⠴⠒⠒⠒⠋⠉⠉⠉⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⠕⠕⠕⠕⠕⠕⠑⠑⠑⠑⠁⠁⠁⠁⠁⠁
      │⠤⠤⠤⠴⠒⠒⠒⠋⠉⠉⠉⠁⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⠕⠕⠕⠕⠕⠑⠑⠑⠑⠁⠁⠁⠁⠁
      │⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⠕⠕⠕⠕⠑⠑⠑⠁⠁⠁⠁
0.3700┤⢕⢕⠕⠕⠕⠕⠑⠑⠑⠁⠁⠁⠁
      └────────────────────────────────────────────────────────────────────────
       generation 0                                                           2
latest     id  generation    result  parameters   took  what changed
00:01:15  #75           3    0.8750       3,775  2.5 s  widen n3f2a1 16 -> 32
00:01:14  #74           3    0.8740       3,738  2.5 s  add conv(filters=16) on
00:01:13  #73           3  diverged       3,701  2.5 s  the loss became NaN in e
00:01:12  #72           2    0.8720       3,664  2.5 s  add conv(filters=16) on
00:01:11  #71           2    0.8710       3,627  2.5 s  widen n3f2a1 16 -> 32
00:01:10  #70           2    0.8700       3,590  2.5 s  add conv(filters=16) on
00:01:09  #69           2    0.8690       3,553  2.5 s  widen n3f2a1 16 -> 32
00:01:08  #68           2    0.8680       3,516  2.5 s  add conv(filters=16) on
q quit   1-6 or Tab another page   b open the best
)");
}

TEST_CASE("overview: without Unicode it is drawn in ASCII") {
  CHECK(page_of(page::overview).text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
validation.accuracy  best *  median -  quartiles :
0.9100|                                                            ************
      |                                      ***********************::::::-----
      |                     ******************:::::------------------------::::
      |     *****************::::-------------------:::::::::::::::::::::::::::
0.6014|******::::-----------------:::::::::::::::::::::::::::::::::::::::
      |-----------::::::::::::::::::::::::::::::::
      |:::::::::::::::::::::::::
0.3700|:::::::::
      +------------------------------------------------------------------------
       generation 0                                                           2
latest     id  generation    result  parameters   took  what changed
00:01:15  #75           3    0.8750       3,775  2.5 s  widen n3f2a1 16 -> 32
00:01:14  #74           3    0.8740       3,738  2.5 s  add conv(filters=16) on
00:01:13  #73           3  diverged       3,701  2.5 s  the loss became NaN in e
00:01:12  #72           2    0.8720       3,664  2.5 s  add conv(filters=16) on
00:01:11  #71           2    0.8710       3,627  2.5 s  widen n3f2a1 16 -> 32
00:01:10  #70           2    0.8700       3,590  2.5 s  add conv(filters=16) on
00:01:09  #69           2    0.8690       3,553  2.5 s  widen n3f2a1 16 -> 32
00:01:08  #68           2    0.8680       3,516  2.5 s  add conv(filters=16) on
q quit   1-6 or Tab another page   b open the best
)");
}

TEST_CASE("front: a chart and a list, of which one is chosen") {
  auto s = page_of(page::front);
  s.at.chosen_of_front = 1;
  CHECK(s.text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
validation.accuracy against parameters (logarithmic)
0.9100|                                                                    ...o
      |                                                            .........
      |                                                     ........
      |                                             .........
0.7900|                                   ......@....
      |                     ...............
      |       ...............
0.7000|o.......
      +------------------------------------------------------------------------
       1,333 parameters                                                   3,035
 id  result  parameters  generation   took  what changed
 #9  0.7000       1,333           0  2.5 s  widen n3f2a1 16 -> 32
#31  0.7900       2,147           1  2.5 s  widen n3f2a1 16 -> 32
#55  0.9100       3,035           2  2.5 s  widen n3f2a1 16 -> 32





q quit   1-6 or Tab another page   Up/Down choose   Enter open
)");
  CHECK(s.drawn().at(16, 0).look == style::chosen);
}

TEST_CASE("slots: what they train and how far, and who is away or gone, in red") {
  auto s = page_of(page::slots);
  s.epochs = {{"node1/cpu:0", {.slot = "node1/cpu:0", .id = 76, .number = 10, .of = 20}}};
  CHECK(s.text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
slot          does                        epoch                     for  device
node1/cpu:0   training #76                ########........ 10/20  1.2 s  4 cores
node1/cpu:1   idle                                                       4 cores
node3/cuda:0  away for 12 s               #............... 1/20    15 s  H200
node3/cuda:1  quarantined for 1 min 30 s                                 H200
node2/cuda:0  gone since 00:00:43                                  42 s  connect













5 candidates wait for a slot
q quit   1-6 or Tab another page   Up/Down move
)");
  CHECK(s.drawn().at(4, 0).look == style::plain);
  CHECK(s.drawn().at(6, 0).look == style::bad);
  CHECK(s.drawn().at(8, 0).look == style::bad);
}

TEST_CASE("candidates: the latest first") {
  CHECK(page_of(page::candidates).text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
 id  generation  result  parameters   took  parents  what changed
#77           3  0.8000       3,849  2.5 s  #53 #57  widen n3f2a1 16 -> 32
#76           3  0.8000       3,812  2.5 s  #52 #56  add conv(filters=16) on n1.
#75           3  0.8000       3,775  2.5 s  #51 #55  widen n3f2a1 16 -> 32
#74           3  0.8000       3,738  2.5 s  #50 #54  add conv(filters=16) on n1.
#73           3  0.8000       3,701  2.5 s  #49 #53  widen n3f2a1 16 -> 32
#72           2  0.8000       3,664  2.5 s  #48 #52  add conv(filters=16) on n1.
#71           2  0.8000       3,627  2.5 s  #47 #51  widen n3f2a1 16 -> 32
#70           2  0.8000       3,590  2.5 s  #46 #50  add conv(filters=16) on n1.
#69           2  0.8000       3,553  2.5 s  #45 #49  widen n3f2a1 16 -> 32
#68           2  0.8000       3,516  2.5 s  #44 #48  add conv(filters=16) on n1.
#67           2  0.8000       3,479  2.5 s  #43 #47  widen n3f2a1 16 -> 32
#66           2  0.8000       3,442  2.5 s  #42 #46  add conv(filters=16) on n1.
#65           2  0.8000       3,405  2.5 s  #41 #45  widen n3f2a1 16 -> 32
#64           2  0.8000       3,368  2.5 s  #40 #44  add conv(filters=16) on n1.
#63           2  0.8000       3,331  2.5 s  #39 #43  widen n3f2a1 16 -> 32
#62           2  0.8000       3,294  2.5 s  #38 #42  add conv(filters=16) on n1.
#61           2  0.8000       3,257  2.5 s  #37 #41  widen n3f2a1 16 -> 32
#60           2  0.8000       3,220  2.5 s  #36 #40  add conv(filters=16) on n1.
#59           2  0.8000       3,183  2.5 s  #35 #39  widen n3f2a1 16 -> 32
q quit   1-6 or Tab another page   Up/Down choose   Enter open
)");
}

TEST_CASE("generations: a line each, the latest first") {
  CHECK(page_of(page::generations).text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
generation    best   by  median   lower   upper  succeeded  failed  took
         2  0.9100  #55  0.8100  0.6600  0.8700         23       1  24 s
         1  0.7900  #31  0.6900  0.5400  0.7500         23       1  24 s
         0  0.6200   #7  0.5200  0.3700  0.5800         23       1  24 s
















q quit   1-6 or Tab another page   Up/Down move
)");
}

TEST_CASE("failures: outcomes by kind and what was lost last") {
  CHECK(page_of(page::failures).text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
outcomes
  succeeded  72  96.0 %  #######################.
  diverged    2   2.7 %  #.......................
  crashed     1   1.3 %  ........................
the latest that failed
  00:01:13  #73  diverged: the loss became NaN in epoch 2
slots that lost candidates
  node3/cuda:1  3, last: killed by signal 11
attempts that were lost and made again
  #40  attempt 1 on node2/cuda:0: killed by signal 9










q quit   1-6 or Tab another page   Up/Down move
)");
}

TEST_CASE("pages: an open candidate has its curve above its text") {
  auto s = page_of(page::front);
  s.at.open = reading{.id = 55,
                      .parents = {31},
                      .lines = {"#55, generation 2, from #31: widen n2 8 -> 16",
                                "  succeeded", "three", "four"},
                      .curve = {{1, {{"validation.accuracy", 0.5}}, 0.5},
                                {2, {{"validation.accuracy", 0.8}}, 0.5},
                                {3, {{"validation.accuracy", 0.9}}, 0.5}}};
  s.at.read = 1;
  CHECK(s.text() == R"(
digits  live                                 generation 3 of 10, 2 min 45 s left
75 of 240 evaluated, 3 failed   best 0.9100 #55   2 of 4 slots busy
1 overview  2 front  3 slots  4 candidates  5 generations  6 failures
validation.accuracy
0.9000|                                                          **************
      |                                  *************************
      |                         **********
      |               ***********
      |     ***********
0.5000|******
      +------------------------------------------------------------------------
       epoch 1                                                                3
  succeeded
three
four








q quit   Esc back   Up/Down read   p its parent
)");
}

TEST_CASE("pages: long lines of an open candidate are broken between words") {
  const reading r{.lines = {"short", "  input and output are here",
                            "averyveryverylongword x", "", "ab cd averyveryverylongword"},
                  .curve = {}};
  CHECK(broken_lines(r, 14)
        == std::vector<std::string>{"short", "  input and", "      output",
                                    "      are here", "averyveryverylongword", "    x",
                                    "", "ab cd", "    averyveryverylongword"});
}

TEST_CASE("pages: a run of which nothing is recorded has all of them") {
  for (std::size_t i = 0; i < page_count; ++i) {
    auto s = page_of(static_cast<page>(i));
    s.picture = {};
    s.slots = {};
    CHECK_THAT(s.text(), Catch::Contains("nothing is recorded yet"));
  }
}

TEST_CASE("pages: each fits every size from the smallest on") {
  for (std::size_t i = 0; i < page_count; ++i)
    for (const extent size :
         {smallest, extent{12, 60}, extent{24, 79}, extent{60, 250}}) {
      const auto s = page_of(static_cast<page>(i));
      const auto text = s.text(size);
      CHECK_THAT(text, Catch::Contains("digits  live"));
      CHECK_THAT(text, Catch::Contains("q quit   1-6 or Tab"));
    }
}

TEST_CASE("pages: a terminal that is too small is told so") {
  CHECK(page_of(page::slots).text({.rows = 9, .columns = 40})
        == "\ntoo small: 40x10 is needed\nq quits\n\n\n\n\n\n\n\n");
}

TEST_CASE("pages: the head says which of live, stopped and replay is shown") {
  auto s = page_of(page::overview);
  CHECK(line_of(s.text(), 0)
        == "digits  live                                 generation 3 of 10, 2 min 45 s "
           "left");
  s.showing = feed_state::stopped;
  s.picture.state = picture_state::paused;
  s.picture.reason = "interrupted";
  s.slots = {};
  CHECK(
      line_of(s.text(), 0)
      == "digits  stopped, paused: interrupted                          generation 3 of "
         "10");
  CHECK(line_of(s.text(), 1) == "75 of 240 evaluated, 3 failed   best 0.9100 #55");
  s.showing = feed_state::finished;
  s.picture.state = picture_state::finished;
  s.picture.reason.clear();
  CHECK(
      line_of(s.text(), 0)
      == "digits  finished                                              generation 3 of "
         "10");
  s.showing = feed_state::replay;
  s.picture.state = picture_state::running;
  CHECK(
      line_of(s.text(), 0)
      == "digits  replay, running                                       generation 3 of "
         "10");
}

TEST_CASE("pages: what is complained of is in place of the keys, in red") {
  auto s = page_of(page::candidates);
  s.at.complaint = "#99 is not in the store";
  CHECK(line_of(s.text(), 23) == "#99 is not in the store");
  CHECK(s.drawn().at(23, 0).look == style::bad);
}

TEST_CASE("pages: the time left is what is planned at the pace of the latest") {
  auto p = a_picture();
  // 15 of them in 15 s; 165 to go.
  CHECK(seconds_left(p, feed_state::live) == Approx(165));
  CHECK_FALSE(seconds_left(p, feed_state::replay));
  // While nothing comes, the pace falls.
  p.unix_ms += 15'000;
  CHECK(seconds_left(p, feed_state::live) == Approx(330));
  p.evaluated = 240;
  CHECK_FALSE(seconds_left(p, feed_state::live));
}

TEST_CASE("pages: a run of jobs has no word of evolution") {
  for (const auto p : {page::candidates, page::slots, page::failures}) {
    auto s = page_of(p);
    s.picture.named_by = "job";
    s.names = {{75, "train_a"}, {76, "train_b"}, {77, "train_c"}};
    const auto text = s.text();
    CHECK_THAT(text, Catch::Contains("1 jobs  2 slots  3 failures"));
    CHECK_THAT(text, Catch::Contains("75 of 240 ended, 3 failed"));
    for (const char* word : {"candidate", "generation", "best", "crashed"})
      CHECK_THAT(text, !Catch::Contains(word));
  }
}

TEST_CASE("pages: jobs are named, and say where they run or why they failed") {
  auto s = page_of(page::candidates);
  s.picture.named_by = "job";
  s.names = {{75, "train_a"}, {76, "train_b"}, {77, "train_c"}};
  s.slots.slots.front().training = 77;
  s.open = {76, 77};
  const auto text = s.text();
  CHECK_THAT(text, Catch::Contains("train_c  running"));
  CHECK_THAT(text, Catch::Contains("train_b  waiting"));
  CHECK_THAT(text, Catch::Contains("train_a  succeeded"));
}
