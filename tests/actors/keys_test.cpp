#include "actors/keys.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
namespace fs = std::filesystem;

TEST_CASE("keys: a run's keys can be read by their owner alone") {
  const scratch_folder folder;
  const auto keys = folder.path() / "keys";
  REQUIRE(make_run_keys(keys));
  CHECK(fs::status(keys).permissions() == fs::perms::owner_all);
  constexpr auto owner_alone = fs::perms::owner_read | fs::perms::owner_write;
  for (const char* role : {"head", "worker"}) {
    const auto files = find_keys(keys, role);
    REQUIRE(files);
    for (const auto& f : {files->authority, files->certificate, files->key})
      CHECK(fs::status(f).permissions() == owner_alone);
  }
}

TEST_CASE("keys: the authority's own key is nowhere") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  std::size_t files = 0;
  for (const auto& f : fs::recursive_directory_iterator(folder.path()))
    files += f.is_regular_file() ? 1 : 0;
  CHECK(files == 5); // ca.pem and two pairs
}

TEST_CASE("keys: made again they replace the former ones") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  const auto first = read_text(folder.path() / "ca.pem");
  REQUIRE(make_run_keys(folder.path()));
  CHECK(read_text(folder.path() / "ca.pem") != first);
}

TEST_CASE("keys: a missing file is named with what to do") {
  const scratch_folder folder;
  const auto keys = find_keys(folder.path(), "worker");
  REQUIRE_FALSE(keys);
  CHECK(keys.error().kind == error_kind::not_found);
  CHECK(keys.error().message
        == (folder.path() / "ca.pem").string()
               + " is missing or not readable: --keys names the folder with ca.pem and "
                 "worker/{cert,key}.pem");
}
