#include "engine/data/memory/large_vector.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "engine/data/reading/data_cache.hpp"
#include "tests/engine/data/files.hpp"
#include "tests/engine/data/named_cache.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

using namespace clade;
namespace fs = std::filesystem;

namespace {

std::string table() {
  std::string text = "x,y,colour,class\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 7) + ","
            + (i % 3 == 0 ? "red" : "blue") + "," + (i % 2 == 0 ? "a" : "b") + "\n";
  return text;
}

// A data file and a cache that takes files of any size.
struct cached_files {
  scratch_folder folder;
  data_cache cache{.folder = folder.path() / "deep" / "cache", .least_bytes = 0};
  data_params params{.categories = {"colour"}};

  cached_files() { params.file = write(folder, "x.csv", table()); }

  [[nodiscard]] data_set load(std::uint64_t seed = 1) const {
    auto data = load_data(params, seed, cache);
    if (!data)
      FAIL(data.error().message);
    return std::move(*data);
  }

  [[nodiscard]] std::vector<fs::path> cached() const {
    std::vector<fs::path> out;
    if (fs::exists(cache.folder))
      for (const auto& entry : fs::directory_iterator(cache.folder))
        if (entry.path().filename().string().find(".data") != std::string::npos)
          out.push_back(entry.path());
    return out;
  }

  [[nodiscard]] bool found(std::uint64_t seed = 1) const {
    const auto key = key_of(cache, params, seed);
    return key && find_cached(cache, *key);
  }
};

bool same(const data_set& a, const data_set& b) {
  return cached_form(a) == cached_form(b) && a.features == b.features;
}

mode_t mode_of(const fs::path& path) {
  struct stat is {};
  REQUIRE(::stat(path.c_str(), &is) == 0);
  return is.st_mode & 0777;
}

} // namespace

TEST_CASE("cache: what comes from it is what was read bit for bit") {
  const cached_files files;
  const auto read = load_data(files.params, 1, {});
  REQUIRE(read);
  CHECK_FALSE(files.found());
  const auto first = files.load();
  REQUIRE(files.cached().size() == 1);
  CHECK(files.found());
  const auto second = files.load();
  CHECK(files.cached().size() == 1);
  CHECK(same(*read, first));
  CHECK(same(*read, second));
  CHECK(second.classes == std::vector<std::string>{"a", "b"});
  CHECK(second.train == read->train);
  CHECK(second.labels == read->labels);
}

TEST_CASE("cache: regression comes back whole too") {
  cached_files files;
  files.params = {.file = files.params.file,
                  .target = "x",
                  .task = regression,
                  .categories = {"colour", "class"}};
  const auto read = load_data(files.params, 1, {});
  REQUIRE(read);
  CHECK(same(*read, files.load()));
  const auto second = files.load();
  CHECK(same(*read, second));
  CHECK(second.task == regression);
  CHECK(second.targets == read->targets);
  CHECK(second.target_scales == read->target_scales);
}

TEST_CASE("cache: only this user may read it") {
  const cached_files files;
  (void)files.load();
  CHECK(mode_of(files.cache.folder) == 0700);
  CHECK(mode_of(files.cached().at(0)) == 0600);
}

TEST_CASE("cache: everything that decides what is read decides what is found") {
  const cached_files files;
  std::set<std::string> names;
  const auto add = [&](auto change) {
    auto params = files.params;
    change(params);
    const auto key = key_of(files.cache, params, 1);
    REQUIRE(key);
    return names.insert(to_text(key->name)).second;
  };
  CHECK(add([](data_params&) {}));
  CHECK_FALSE(add([](data_params&) {}));
  CHECK(add([](data_params& p) { p.target = "y"; }));
  CHECK(add([](data_params& p) { p.header = "names"; }));
  CHECK(add([](data_params& p) { p.task = regression; }));
  CHECK(add([](data_params& p) { p.blanks = blank_rule::mean; }));
  CHECK(add([](data_params& p) { p.categories = {"colour", "x"}; }));
  CHECK(add([](data_params& p) { p.shape = {{1, 2, 2}}; }));
  CHECK(add([](data_params& p) { p.train = 0.7; }));
  CHECK(add([](data_params& p) { p.validation = 0.7; }));
  CHECK(add([](data_params& p) { p.test = 0.7; }));
  CHECK(add([](data_params& p) { p.limit = 7; }));
  CHECK(add([](data_params& p) { p.test_limit = 7; }));
  CHECK(add([](data_params& p) { p.test_limit = 0; }));
  CHECK(add([](data_params& p) { p.test_file = p.file; }));
  CHECK(add([](data_params& p) { p.target_file = p.file; }));
  CHECK(add([](data_params& p) { p.array = "a"; }));
  CHECK(add([](data_params& p) { p.target_array = "a"; }));
  CHECK(add([](data_params& p) { p.test_array = "a"; }));
  CHECK(add([](data_params& p) { p.test_target_array = "a"; }));
  const auto seed = key_of(files.cache, files.params, 2);
  REQUIRE(seed);
  CHECK(names.insert(to_text(seed->name)).second);
  write(files.folder, "x.csv", table() + "1,2,red,a\n");
  CHECK(add([](data_params&) {}));
}

TEST_CASE("cache: a changed file is read again") {
  const cached_files files;
  (void)files.load();
  write(files.folder, "x.csv", table() + "1,2,red,a\n");
  CHECK(files.load().examples == 61);
}

TEST_CASE("cache: any damage is noticed and repaired") {
  const cached_files files;
  const auto data = files.load();
  const auto file = files.cached().at(0);
  const auto whole = read_text(file);
  constexpr std::size_t said = 80, padding = 4096 - said;
  CHECK(rc::check([&] {
    auto bytes = whole;
    switch (*rc::gen::inRange(0, 3)) {
    case 0: { // a flipped bit, but not in the padding
      auto at = *rc::gen::inRange<std::size_t>(0, whole.size() - padding);
      at += at >= said ? padding : 0;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << *rc::gen::inRange(0, 8)));
      break;
    }
    case 1:
      bytes.resize(*rc::gen::inRange<std::size_t>(0, whole.size()));
      break;
    default:
      bytes += *rc::gen::nonEmpty<std::string>();
    }
    write_text(file, bytes);
    RC_ASSERT_FALSE(files.found());
    RC_ASSERT(same(files.load(), data));
    RC_ASSERT(read_text(file) == whole);
  }));
}

TEST_CASE("cache: features in a file without a name are not written twice") {
  const scratch_folder folder;
  const data_cache cache{.folder = folder.path() / "cache", .least_bytes = 0};
  const named_cache named(cache.folder);
  const cache_key key{.name = {1, 2}, .checksum = {3, 4}};
  const auto of = [&](large_vector<std::uint8_t> features) {
    data_set data;
    data.examples = 3;
    data.checksum = key.checksum;
    data.features = stored_numbers(std::move(features), 255);
    return data;
  };
  large_vector<std::uint8_t> large;
  large.reserve(least_large_bytes);
  large.assign({7, 8, 9});
  const auto kept = keep_cached(cache, key, of(std::move(large)));
  CHECK(kept.features.mapped());
  CHECK(kept.features == of({7, 8, 9}).features);
  const auto found = find_cached(cache, key);
  REQUIRE(found);
  CHECK(same(*found, kept));
  // It is the file that another cache would have of a copy, and nothing else is left.
  const data_cache other{.folder = folder.path() / "other", .least_bytes = 0};
  static_cast<void>(keep_cached(other, key, of({7, 8, 9})));
  const auto name = to_text(key.name) + ".data";
  CHECK(read_text(cache.folder / name) == read_text(other.folder / name));
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(cache.folder))
    files += entry.path().filename().string().find(".data") != std::string::npos ? 1 : 0;
  CHECK(files == 1);
}

TEST_CASE("cache: what was loaded outlives the cache") {
  const cached_files files;
  const auto data = files.load();
  REQUIRE(data.features.mapped());
  const auto before = data.features.values();
  fs::remove_all(files.cache.folder);
  CHECK(data.features.values() == before);
}

TEST_CASE("cache: a folder that cannot be had leaves the files to be read") {
  const cached_files files;
  auto cache = files.cache;
  write(files.folder, "file", "");
  // Permissions would not stop root; a file where a folder must be stops everybody.
  for (const fs::path& folder :
       {files.folder.path() / "file", files.folder.path() / "file" / "below"}) {
    cache.folder = folder;
    const auto data = load_data(files.params, 1, cache);
    REQUIRE(data);
    CHECK(data->examples == 60);
  }
  CHECK(read_text(files.folder.path() / "file").empty());
}

TEST_CASE("cache: a link in place of its file is not followed but replaced") {
  const cached_files files;
  const auto data = files.load();
  const auto file = files.cached().at(0);
  const auto elsewhere = files.folder.path() / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  CHECK_FALSE(files.found());
  CHECK(same(files.load(), data));
  CHECK(fs::is_regular_file(fs::symlink_status(file)));
}

TEST_CASE("cache: wrong data is an error each time and never kept") {
  const cached_files files;
  write(files.folder, "x.csv", table() + "1,2,red\n");
  for (int i = 0; i < 2; ++i) {
    const auto data = load_data(files.params, 1, files.cache);
    REQUIRE_FALSE(data);
    CHECK(data.error().message
          == files.params.file.string() + ":62: 3 columns, where line 1 has 4");
  }
  CHECK(files.cached().empty());
}

TEST_CASE("cache: small files are not worth it") {
  cached_files files;
  files.cache.least_bytes = 1 << 20;
  (void)files.load();
  CHECK_FALSE(fs::exists(files.cache.folder));
}

TEST_CASE("cache: what was used longest ago makes room") {
  cached_files files;
  (void)files.load(1);
  const auto size = fs::file_size(files.cached().at(0));
  files.cache.most_bytes = 3 * size + size / 2;
  const auto age = [&](std::uint64_t seed, int hours) {
    const auto name = to_text(key_of(files.cache, files.params, seed)->name) + ".data";
    fs::last_write_time(files.cache.folder / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  write_text(files.cache.folder / "old.data.abcdef", std::string(size / 4, 'x'));
  fs::last_write_time(files.cache.folder / "old.data.abcdef",
                      fs::file_time_type::clock::now() - std::chrono::hours(9));
  (void)files.load(2);
  (void)files.load(3);
  age(1, 3);
  age(2, 4);
  age(3, 2);
  (void)files.load(2); // used now
  (void)files.load(4);
  CHECK_FALSE(fs::exists(files.cache.folder / "old.data.abcdef"));
  CHECK_FALSE(files.found(1));
  CHECK(files.found(2));
  CHECK(files.found(3));
  CHECK(files.found(4));
}

TEST_CASE("cache: processes that start together read the same and leave one file") {
  const cached_files files;
  const auto read = load_data(files.params, 1, {});
  REQUIRE(read);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool right = true;
      for (std::uint64_t round = 0; round < 20; ++round) {
        const auto data = load_data(files.params, 1, files.cache);
        right = right && data && same(*data, *read);
        for (const auto& file : files.cached())
          ::unlink(file.c_str());
      }
      const auto data = load_data(files.params, 1, files.cache);
      ::_exit(right && data && same(*data, *read) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(same(files.load(), *read));
  CHECK(files.cached().size() == 1);
}

TEST_CASE("cache: any bytes are a cached form or nothing") {
  CHECK(rc::check([](const std::string& bytes) {
    const auto data = parse_cached_form(bytes);
    RC_ASSERT((!data || cached_form(*data) == bytes));
  }));
  data_set data;
  data.classes = {"a", "bc"};
  data.train = {1, 2, 3};
  data.numbers = {true, false, true};
  data.examples = 2;
  data.parts_by_chance = false;
  data.steps = std::make_shared<const forecast_steps>(forecast_steps{
      .ahead = {1, 2},
      .offset = {10, 20},
      .scale = {2, 4},
      .naive = {0.5, 1},
      .drawn = {{{"shop 1", "tea"}, "2024-01", "2024-03", "2024-05", {1, 2, 3}, 0, 2}}});
  const auto whole = cached_form(data);
  REQUIRE(parse_cached_form(whole));
  CHECK(*parse_cached_form(whole)->steps == *data.steps);
  CHECK_FALSE(parse_cached_form(whole)->parts_by_chance);
  for (std::size_t end = 0; end < whole.size(); ++end)
    CHECK_FALSE(parse_cached_form(std::string_view(whole).substr(0, end)));
  CHECK(rc::check([&] {
    auto bytes = whole;
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    const auto parsed = parse_cached_form(bytes);
    RC_ASSERT((!parsed || cached_form(*parsed) == bytes));
  }));
}
