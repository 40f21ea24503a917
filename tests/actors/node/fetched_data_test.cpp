#include "actors/head/data_source.hpp"
#include "actors/node/fetched_data.hpp"
#include "engine/data/folders/folder_bundle.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <mutex>
#include <set>

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

TEST_CASE("fetched data: a folder that is not here is fetched as it was") {
  fixture f;
  const auto there = f.folder.path() / "there" / "reviews";
  for (const char* name : {"good/1.txt", "good/2.txt", "bad/x/3.txt"}) {
    fs::create_directories((there / name).parent_path());
    write_text(there / name, std::string("of ") + name);
  }
  write_text(there / "README", "not an example");
  const auto sent = data_to_send({.file = there});
  REQUIRE(sent);
  const auto& files = sent->files;
  REQUIRE(files[0].folder);
  const auto bundle = folder_bundle::of(there);
  REQUIRE(bundle);
  f.there->content = bundle->read(0, 1 << 20).value();
  CHECK(f.there->content.size() == files[0].size);
  const fs::path elsewhere = "/nowhere/on/this/machine/reviews";
  auto named = files[0];
  named.path = f.data.file = elsewhere;
  REQUIRE(f.have(named));
  CHECK(f.data.file.filename() == "reviews");
  CHECK(read_text(f.data.file / "bad/x/3.txt") == "of bad/x/3.txt");
  CHECK_FALSE(fs::exists(f.data.file / "README"));
  const auto asked = f.there->asked.size();
  CHECK(asked > 10);
  f.data.file = elsewhere;
  REQUIRE(f.have(named)); // It is there now.
  CHECK(f.there->asked.size() == asked);
  // Nothing else is left beside it.
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(f.data.file.parent_path()))
    left.insert(entry.path().filename());
  CHECK(left == std::set<std::string>{"lock", "reviews"});
}

TEST_CASE("fetched data: a folder that changed on its way is refused and not kept") {
  fixture f;
  const auto there = f.folder.path() / "there";
  fs::create_directories(there / "a");
  write_text(there / "a" / "1.txt", "what it was");
  auto named = data_to_send({.file = there}).value().files[0];
  write_text(there / "a" / "1.txt", "what it is.");
  f.there->content = folder_bundle::of(there)->read(0, 1 << 20).value();
  f.data.file = "/nowhere/on/this/machine/reviews";
  named.path = f.data.file;
  const auto done = f.have(named);
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == error_kind::conflict);
  f.there->content.resize(f.there->content.size() - 1);
  named.size = f.there->content.size();
  CHECK(f.have(named).error().message
        == "/nowhere/on/this/machine/reviews: the bundle of a folder is shorter than its "
           "files");
  const auto cached = f.folder.path() / "files" / named.checksum;
  CHECK_FALSE(fs::exists(cached / "reviews"));
  CHECK_FALSE(fs::exists(cached / "reviews.new"));
}

TEST_CASE("fetched data: the images that a table names come after it") {
  fixture f;
  const auto there = f.folder.path() / "there";
  for (const char* name : {"pictures/1.png", "pictures/deep/2.png", "3.png"}) {
    fs::create_directories((there / name).parent_path());
    write_text(there / name, std::string("of ") + name);
  }
  write_text(there / "other.png", "named nowhere");
  const std::string table = "image,label\n3.png,a\npictures/1.png,b\n"
                            "pictures/deep/2.png,a\n3.png,a\n";
  write_text(there / "list.csv", table);
  f.data = {.file = there / "list.csv", .target = "label", .images = "image"};
  const auto sent = data_to_send(f.data);
  REQUIRE(sent);
  REQUIRE(sent->files.size() == 2);
  const auto& images = sent->files[1];
  CHECK((images.listed && images.path == there.string()));
  f.there->content = sent->bundles.at(images.path).read(0, 1 << 20).value();
  CHECK(f.there->content.find("named nowhere") == std::string::npos);
  // Nothing is fetched where all of it lies.
  REQUIRE(have_data(f.system, f.node, sent->files, f.data));
  CHECK(f.there->asked.empty());
  CHECK(f.data.image_folder == there);
  // The table is here, and an image is another one.
  write_text(there / "3.png", "another one");
  REQUIRE(have_data(f.system, f.node, sent->files, f.data));
  CHECK(f.data.file == there / "list.csv");
  CHECK(f.data.image_folder != there);
  CHECK(read_text(f.data.image_folder / "3.png") == "of 3.png");
  CHECK(read_text(f.data.image_folder / "pictures/deep/2.png")
        == "of pictures/deep/2.png");
  // Images that lie elsewhere are not sent.
  write_text(there / "list.csv", "image,label\n../3.png,a\npictures/1.png,b\n");
  write_text(f.folder.path() / "3.png", "of all");
  const auto less =
      data_to_send({.file = there / "list.csv", .target = "label", .images = "image"});
  REQUIRE(less);
  CHECK(less->files.size() == 1);
}

TEST_CASE("data source: a folder is read as its bundle") {
  const scratch_folder folder;
  fs::create_directories(folder.path() / "a");
  write_text(folder.path() / "a" / "1.txt", "some words");
  const auto sent = data_to_send({.file = folder.path()});
  REQUIRE(sent);
  const data_source_state source{*sent};
  const auto path = folder.path().string();
  const auto all = source.read({.path = path, .offset = 0});
  CHECK(all.data.size() == sent->files[0].size);
  CHECK(all.data.ends_with("a/1.txtsome words"));
  CHECK(source.read({.path = path, .offset = all.data.size() - 5}).data == "words");
  CHECK(source.read({.path = path, .offset = all.data.size()}).data.empty());
  fs::remove_all(folder.path() / "a");
  CHECK(source.read({.path = path, .offset = 0})
            .failure.ends_with("cannot be read, or became shorter"));
}

TEST_CASE("data source: it reads the run's files and no others") {
  const scratch_folder folder;
  const auto file = folder.path() / "x.csv";
  write_text(file, "0123456789");
  write_text(folder.path() / "secret", "0123456789");
  const auto sent = data_to_send({.file = file});
  REQUIRE(sent);
  REQUIRE(sent->files.size() == 1);
  CHECK(sent->files[0].size == 10);
  const data_source_state source{*sent};
  CHECK(source.read({.path = file.string(), .offset = 7}).data == "789");
  CHECK(source.read({.path = file.string(), .offset = 10}).data.empty());
  CHECK(source.read({.path = (folder.path() / "secret").string()}).failure
        == "it is no data file of this run");
}
