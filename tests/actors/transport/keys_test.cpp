#include "actors/transport/tls/keys.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;
namespace fs = std::filesystem;

namespace {

void expect_error(const fs::path& bundle, error_kind kind, const std::string& ending) {
  const auto keys = find_keys(bundle);
  REQUIRE_FALSE(keys);
  CHECK(keys.error().kind == kind);
  CHECK_THAT(keys.error().message, Catch::EndsWith(ending));
}

} // namespace

TEST_CASE("keys: a run's keys can be read by their owner alone") {
  const scratch_folder folder;
  const auto keys = folder.path() / "keys";
  REQUIRE(make_run_keys(keys));
  CHECK(fs::status(keys).permissions() == fs::perms::owner_all);
  constexpr auto owner_alone = fs::perms::owner_read | fs::perms::owner_write;
  for (const char* role : {"head", "worker"}) {
    const auto files = find_keys(keys / role);
    REQUIRE(files);
    for (const auto& f : {files->authority, files->certificate, files->key})
      CHECK(fs::status(f).permissions() == owner_alone);
  }
}

TEST_CASE("keys: the authority's own key is in no bundle") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  std::set<std::string> files;
  for (const auto& f : fs::recursive_directory_iterator(folder.path()))
    if (f.is_regular_file())
      files.insert(fs::relative(f, folder.path()).string());
  CHECK(files
        == std::set<std::string>{"authority/cert.pem", "authority/key.pem", "head/ca.pem",
                                 "head/cert.pem", "head/key.pem", "worker/ca.pem",
                                 "worker/cert.pem", "worker/key.pem"});
  CHECK(fs::status(folder.path() / "authority").permissions() == fs::perms::owner_all);
}

TEST_CASE("keys: renewed ones are of the same authority and keys") {
  const scratch_folder folder;
  const auto own = folder.path() / "own", given = folder.path() / "given";
  REQUIRE(make_run_keys(own));
  REQUIRE(make_authority(given));
  REQUIRE(make_run_keys(folder.path() / "run", given));
  for (const auto& [keys, authority] :
       {std::pair(own, own), std::pair(folder.path() / "run", given)}) {
    const auto before = read_text(keys / "worker" / "cert.pem");
    const auto key = read_text(keys / "worker" / "key.pem");
    const auto trusted = read_text(keys / "worker" / "ca.pem");
    key_renewal renewal(keys, authority);
    REQUIRE(renewal.renew());
    CHECK(read_text(keys / "worker" / "cert.pem") != before);
    CHECK(read_text(keys / "worker" / "key.pem") == key);
    CHECK(read_text(keys / "worker" / "ca.pem") == trusted);
    CHECK(find_keys(keys / "head"));
    CHECK(find_keys(keys / "worker"));
    CHECK_FALSE(renewal.renew_if_due().value()); // Not due.
  }
}

TEST_CASE("keys: what cannot be renewed is said") {
  const scratch_folder folder;
  key_renewal renewal(folder.path(), folder.path());
  CHECK(renewal.renew().error().kind == error_kind::not_found);
  CHECK_FALSE(renewal.renew_if_due().value());
}

TEST_CASE("keys: made again they replace the former ones") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  const auto first = read_text(folder.path() / "head" / "ca.pem");
  REQUIRE(make_run_keys(folder.path()));
  CHECK(read_text(folder.path() / "head" / "ca.pem") != first);
}

TEST_CASE("keys: an authority signs bundles of workers and of runs") {
  const scratch_folder folder;
  const auto directory = folder.path() / "keys";
  REQUIRE(make_authority(directory));
  REQUIRE(make_bundle(directory, directory / "box", bundle_role::worker, "box"));
  REQUIRE(make_run_keys(folder.path() / "run", directory));
  CHECK(find_keys(directory / "box"));
  CHECK(find_keys(folder.path() / "run" / "head"));
  CHECK(read_text(directory / "box" / "ca.pem")
        == read_text(folder.path() / "run" / "head" / "ca.pem"));
  CHECK(make_authority(directory).error().kind == error_kind::conflict);
  CHECK(make_bundle(folder.path(), folder.path() / "x", bundle_role::worker, "x")
            .error()
            .kind
        == error_kind::not_found);
}

TEST_CASE("keys: a missing file is named with what to do") {
  const scratch_folder folder;
  expect_error(folder.path(), error_kind::not_found,
               "ca.pem is missing or not readable: --keys names a bundle, the folder "
               "with ca.pem, cert.pem and key.pem");
}

TEST_CASE("keys: a key that others may read is refused") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  const auto key = folder.path() / "worker" / "key.pem";
  fs::permissions(key, fs::perms::group_read, fs::perm_options::add);
  expect_error(folder.path() / "worker", error_kind::invalid_input,
               "may be read by others: chmod 600 " + key.string());
}

TEST_CASE("keys: a bundle whose authority others may change is refused") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  const auto authority = folder.path() / "worker" / "ca.pem";
  fs::permissions(authority, fs::perms::group_write, fs::perm_options::add);
  expect_error(folder.path() / "worker", error_kind::invalid_input,
               "may be changed by others: chmod go-w " + authority.string());
}

TEST_CASE("keys: files that do not belong together are refused") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path() / "a"));
  REQUIRE(make_run_keys(folder.path() / "b"));
  const auto mix = [&](const char* file) {
    const auto bundle = folder.path() / file;
    fs::copy(folder.path() / "a" / "worker", bundle);
    fs::copy(folder.path() / "b" / "worker" / file, bundle / file,
             fs::copy_options::overwrite_existing);
    return bundle;
  };
  expect_error(mix("key.pem"), error_kind::invalid_input,
               "is not the certificate of key.pem beside it");
  expect_error(mix("ca.pem"), error_kind::invalid_input,
               "is not signed by the authority in ca.pem beside it");
}

TEST_CASE("keys: what is no key is named") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  write_text(folder.path() / "head" / "cert.pem", "nonsense");
  expect_error(folder.path() / "head", error_kind::corrupt,
               "cert.pem is no PEM file of its kind");
}
