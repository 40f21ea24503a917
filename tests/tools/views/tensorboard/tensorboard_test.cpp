#include "genome/genes/hash.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"
#include "tests/tools/views/still_feed.hpp"
#include "tests/tools/views/terminal/made_up_run.hpp"
#include "tools/views/tensorboard/tensorboard.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

genome_view a_view(candidate_id id) {
  genome_view g;
  g.born.id = id;
  g.born.genome = std::make_shared<const genome>(a_genome());
  g.evaluated = evaluation{.id = id, .curve = {{1, {{"validation.accuracy", 0.5}}, 1.0}}};
  return g;
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.insert(std::filesystem::relative(entry.path(), folder).string());
  return files;
}

} // namespace

TEST_CASE("tensorboard: a live run is followed to its end, and its best have folders") {
  const scratch_folder folder;
  still_feed f(a_picture());
  f.known = {a_view(54), a_view(55), a_view(76)};
  std::set<std::string> before;
  f.steps = {[&](run_picture& p) {
    before = files_in(folder.path());
    p.best.insert(p.best.begin(), p.best.front());
    p.best.front().id = 76;
    p.generations.push_back(p.generations.back());
  }};
  REQUIRE(write_tensorboard(f, folder.path()));
  const std::set<std::string> first{
      "candidate-000054/events.out.tfevents.0000000048.clade",
      "candidate-000055/events.out.tfevents.0000000049.clade",
      "events.out.tfevents.0000000000.clade"};
  CHECK(before == first);
  auto all = first;
  all.insert("candidate-000076/events.out.tfevents.0000000049.clade");
  CHECK(files_in(folder.path()) == all);
}

TEST_CASE("tensorboard: of several objectives the front and its hypervolume are there") {
  const auto written = [](std::uint64_t front) {
    const scratch_folder folder;
    auto p = a_picture();
    p.generations.back().summary.front.members = front;
    p.generations.back().summary.front.hypervolume = 1.25;
    still_feed f(p);
    f.shows = feed_state::stopped;
    f.known = {a_view(54), a_view(55)};
    REQUIRE(write_tensorboard(f, folder.path()));
    std::ifstream in(folder.path() / "events.out.tfevents.0000000000.clade",
                     std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK_THAT(written(7), Catch::Contains("front/candidates"));
  CHECK_THAT(written(7), Catch::Contains("front/hypervolume"));
  CHECK_THAT(written(0), !Catch::Contains("front/"));
}

TEST_CASE("tensorboard: written again a run has the same files") {
  const scratch_folder folder;
  for (int i = 0; i < 2; ++i) {
    still_feed f(a_picture());
    f.shows = feed_state::stopped;
    f.known = {a_view(54), a_view(55)};
    REQUIRE(write_tensorboard(f, folder.path()));
  }
  CHECK(files_in(folder.path()).size() == 3);
}

TEST_CASE("tensorboard: of a run without records nothing is written") {
  const scratch_folder folder;
  still_feed f{run_picture{}};
  REQUIRE(write_tensorboard(f, folder.path()));
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("tensorboard: a folder that cannot be made is an error") {
  still_feed f(a_picture());
  const auto wrote = write_tensorboard(f, "/dev/null/x");
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == error_kind::io);
}
