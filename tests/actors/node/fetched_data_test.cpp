#include "actors/head/data_source.hpp"
#include "actors/node/fetched_data.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <mutex>

using namespace clade;
namespace fs = std::filesystem;

namespace {

/// A head's machine: one file, which is sent in small pieces.
struct remote_file {
  std::string content;
  std::string failure;
  std::vector<std::uint64_t> asked; ///< Offsets.
  int refusals = 0;                 ///< So many requests find no connection.
};

node_actor::behavior_type stub_node(node_actor::pointer, std::shared_ptr<remote_file> f) {
  return {
      [](link_up) { return node_hello{}; },
      [](const node_welcome&, const link_actor&) {},
      [](const assignments&) {},
      [](const team_formed&) {},
      [](const leave&) {},
      [](const taken&) {},
      [](may_leave) {},
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [f](const fetch_chunk& request) -> caf::result<chunk> {
        if (f->refusals-- > 0)
          return caf::sec::request_receiver_down;
        f->asked.push_back(request.offset);
        return chunk{f->failure, f->content.substr(request.offset, 4)};
      },
      [](drain) {},
      [](drain_over) {},
      [](tick) {},
  };
}

struct fixture {
  scratch_folder folder;
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::shared_ptr<remote_file> there = std::make_shared<remote_file>();
  node_actor node = system.spawn(stub_node, there);
  data_params data;

  fixture() {
    ::setenv("CLADE_CACHE", folder.path().c_str(), 1);
    there->content = "a,b\n1,2\n3,4\n";
    data.file = "/nowhere/on/this/machine/digits.csv";
  }
  ~fixture() {
    ::unsetenv("CLADE_CACHE");
    caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
  }

  data_file named() const {
    return {.path = data.file.string(),
            .size = there->content.size(),
            .checksum = to_text(hash128(there->content))};
  }

  expected<void> have(const data_file& file) {
    return have_data(system, node, {file}, data);
  }
};

} // namespace

TEST_CASE("fetched data: a file that is not here is fetched, and once only") {
  fixture f;
  const auto file = f.named();
  REQUIRE(f.have(file));
  CHECK(read_text(f.data.file) == f.there->content);
  CHECK(f.data.file.filename() == "digits.csv");
  CHECK(f.there->asked == std::vector<std::uint64_t>{0, 4, 8});
  f.data.file = file.path;
  REQUIRE(f.have(file));
  CHECK(f.there->asked.size() == 3);
}

TEST_CASE("fetched data: a file that is here is used") {
  fixture f;
  f.data.file = f.folder.path() / "here.csv";
  write_text(f.data.file, f.there->content);
  REQUIRE(f.have(f.named()));
  CHECK(f.data.file == f.folder.path() / "here.csv");
  CHECK(f.there->asked.empty());
}

TEST_CASE("fetched data: another file of that name is not") {
  fixture f;
  f.data.file = f.folder.path() / "here.csv";
  write_text(f.data.file, "a,b\n9,9\n9,9\n");
  REQUIRE(f.have(f.named()));
  CHECK(read_text(f.data.file) == f.there->content);
  CHECK(f.data.file != f.folder.path() / "here.csv");
}

TEST_CASE("fetched data: it goes on where an earlier attempt ended") {
  fixture f;
  const auto file = f.named();
  const auto folder = f.folder.path() / "files" / file.checksum;
  fs::create_directories(folder);
  write_text(folder / "digits.csv.part", f.there->content.substr(0, 8));
  REQUIRE(f.have(file));
  CHECK(f.there->asked == std::vector<std::uint64_t>{8});
  CHECK(read_text(f.data.file) == f.there->content);
}

TEST_CASE("fetched data: a connection that is lost is waited for") {
  fixture f;
  f.there->refusals = 1;
  REQUIRE(f.have(f.named()));
  CHECK(read_text(f.data.file) == f.there->content);
}

TEST_CASE("fetched data: bytes of another checksum are refused and not kept") {
  fixture f;
  auto file = f.named();
  f.there->content = "a,b\n1,2\n3,5\n";
  const auto done = f.have(file);
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == error_kind::conflict);
  CHECK_THAT(done.error().message,
             Catch::StartsWith(file.path + ": what the head sent "));
  CHECK_FALSE(fs::exists(f.folder.path() / "files" / file.checksum / "digits.csv.part"));
}

TEST_CASE("fetched data: what a head names never leaves the cache") {
  fixture f;
  auto file = f.named();
  file.checksum = "../../etc";
  CHECK(f.have(file).error().kind == error_kind::corrupt);
  CHECK(f.there->asked.empty());
  f.data.file = "/nowhere/..";
  CHECK(f.have(f.named()).error().kind == error_kind::corrupt);
}

TEST_CASE("data source: it reads the run's files and no others") {
  const scratch_folder folder;
  const auto file = folder.path() / "x.csv";
  write_text(file, "0123456789");
  write_text(folder.path() / "secret", "0123456789");
  const auto files = data_files({.file = file});
  REQUIRE(files);
  REQUIRE(files->size() == 1);
  CHECK((*files)[0].size == 10);
  const data_source_state source{*files};
  CHECK(source.read({.path = file.string(), .offset = 7}).data == "789");
  CHECK(source.read({.path = file.string(), .offset = 10}).data.empty());
  CHECK(source.read({.path = (folder.path() / "secret").string()}).failure
        == "it is no data file of this run");
}
