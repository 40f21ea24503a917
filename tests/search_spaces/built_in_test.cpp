#include "search_spaces/files/built_in.hpp"
#include "search_spaces/files/load_search_space.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("built-in spaces: each is what its file says") {
  for (const auto& name : built_in_spaces()) {
    INFO(name);
    const auto built_in = load_built_in_space(name);
    const auto file =
        load_search_space(std::filesystem::path(CLADE_SEARCH_SPACES) / (name + ".toml"));
    REQUIRE(built_in);
    REQUIRE(file);
    CHECK(to_toml(*built_in) == to_toml(*file));
    CHECK(built_in->input == file->input);
    CHECK(built_in->name == name);
  }
}

TEST_CASE("built-in spaces: they are named with or without the ending") {
  CHECK(is_built_in_space("mlp"));
  CHECK(is_built_in_space("image.toml"));
  CHECK(!is_built_in_space("hyperparameters.toml"));
  CHECK(!is_built_in_space("search_spaces/mlp.toml"));
  CHECK(!is_built_in_space(""));
}
