#include "engine/telemetry/socket/viewer_keys.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
namespace fs = std::filesystem;

namespace {

/// A folder that looks like an authority's.
struct authority {
  scratch_folder folder;
  fs::path path = folder.path();

  authority() {
    fs::create_directories(path / "authority");
    write_text(path / "authority" / "key.pem", "x");
  }
};

} // namespace

TEST_CASE("viewer keys: a viewer and its publisher know each other") {
  const authority a;
  const auto bundle = make_viewer(a.path, {.name = "ann", .controls = true});
  REQUIRE(bundle);
  const auto ann = read_viewer_bundle(*bundle);
  const auto publisher = publisher_keys(a.path);
  REQUIRE(ann);
  REQUIRE(publisher);
  CHECK(ann->publisher == publisher->public_key);
  const auto known = find_viewer(a.path, ann->own.public_key);
  REQUIRE(known);
  CHECK(known->name == "ann");
  CHECK(known->controls);
  CHECK_FALSE(find_viewer(a.path, publisher->public_key));
}

TEST_CASE("viewer keys: one who is removed is not known any more") {
  const authority a;
  const auto bob = make_viewer(a.path, {.name = "bob"}).and_then(read_viewer_bundle);
  REQUIRE(bob);
  CHECK_FALSE(find_viewer(a.path, bob->own.public_key)->controls);
  fs::remove(a.path / "authority" / "viewers" / "bob");
  CHECK_FALSE(find_viewer(a.path, bob->own.public_key));
}

TEST_CASE("viewer keys: a publisher's are made once and are its owner's alone") {
  const authority a;
  const auto first = publisher_keys(a.path);
  REQUIRE(first);
  CHECK(publisher_keys(a.path)->secret_key == first->secret_key);
  const auto file = a.path / "authority" / "publisher.key";
  CHECK((fs::status(file).permissions() & fs::perms::mask)
        == (fs::perms::owner_read | fs::perms::owner_write));
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  CHECK(publisher_keys(a.path).error().kind == error_kind::invalid_input);
}

TEST_CASE("viewer keys: files that hold anything else count as none") {
  const authority a;
  const auto ann = make_viewer(a.path, {.name = "ann"}).and_then(read_viewer_bundle);
  REQUIRE(ann);
  const auto known = a.path / "authority" / "viewers" / "ann";
  for (const auto& line : {std::string(), ann->own.public_key,
                           ann->own.public_key + " all", std::string("watch")}) {
    write_text(known, line);
    CHECK_FALSE(find_viewer(a.path, ann->own.public_key));
  }
  write_text(a.path / "ann" / "viewer.key", "garbage");
  CHECK(read_viewer_bundle(a.path / "ann").error().kind == error_kind::corrupt);
  const scratch_folder nobody;
  CHECK(publisher_keys(nobody.path()).error().kind == error_kind::not_found);
  CHECK_FALSE(find_viewer(nobody.path(), ann->own.public_key));
}
