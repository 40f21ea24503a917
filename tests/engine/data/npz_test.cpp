#include "engine/data/arrays/array_values.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/formats/npz.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

std::string features() {
  return npy("<f4", "(8, 2)",
             raw<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2}));
}

std::string labels() {
  return npy("|u1", "(8,)", std::string_view("\0\1\0\1\0\1\0\1", 8));
}

// x and y of eight examples, tx and ty of two.
std::string four_arrays(bool compressed = false) {
  return npz({{"x.npy", features()},
              {"y.npy", labels()},
              {"tx.npy", npy("<f4", "(2, 2)", raw<float>({1, 1, 2, 2}))},
              {"ty.npy", npy("|u1", "(2,)", std::string_view("\1\0", 2))}},
             compressed);
}

struct archive {
  scratch_folder folder;
  data_params params{
      .file = write(folder, "d.npz", four_arrays()), .array = "x", .target_array = "y"};

  [[nodiscard]] data_set loaded() const { return loaded(params); }
  [[nodiscard]] static data_set loaded(const data_params& p) {
    auto data = load_data(p, 1, {});
    if (!data)
      FAIL(data.error().message);
    const auto checksum = checksum_of_files(p);
    REQUIRE(checksum);
    CHECK(*checksum == data->checksum);
    return std::move(*data);
  }

  template<class Change>
  [[nodiscard]] std::string error_with(Change change) const {
    auto changed = params;
    change(changed);
    const auto data = load_data(changed, 1, {});
    return data ? "no error" : without(data.error().message, folder);
  }
};

} // namespace

TEST_CASE("npz: arrays of one archive are examples and their targets") {
  const archive a;
  const auto data = a.loaded();
  CHECK(data.examples == 8);
  CHECK(data.shape == tensor_shape{{2}});
  CHECK(data.labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1});
  auto named = a.params;
  named.array = "x.npy";
  CHECK(archive::loaded(named).features == data.features);
  // Known by its first bytes under any other name.
  named.file = write(a.folder, "d", four_arrays());
  CHECK(archive::loaded(named).features == data.features);
}

TEST_CASE("npz: the test set is of the same archive or of one of its own") {
  const archive a;
  auto params = a.params;
  params.test_array = "tx";
  params.test_target_array = "ty";
  const auto same = archive::loaded(params);
  CHECK(same.examples == 10);
  CHECK(same.test == std::vector<std::uint32_t>{8, 9});
  CHECK(same.labels[8] == 1);
  params.test_file = write(a.folder, "t.npz", four_arrays(true));
  const auto other = archive::loaded(params);
  CHECK(other.features == same.features);
  CHECK(other.labels == same.labels);
  CHECK(other.checksum != same.checksum);
}

TEST_CASE("npz: targets may be an array or a file beside the archive") {
  const archive a;
  auto params = a.params;
  params.target_array.clear();
  params.target_file = write(a.folder, "y.npy", labels());
  const auto data = archive::loaded(params);
  CHECK(data.features == a.loaded().features);
  params.target_file = write(a.folder, "y.npz", npz({{"arr_0.npy", labels()}}));
  CHECK(archive::loaded(params).labels == data.labels);
  params = {.file = write(a.folder, "x.npy", features()),
            .target_file = a.params.file,
            .target_array = "y"};
  CHECK(archive::loaded(params).labels == data.labels);
  // A test array's targets are where the others' are.
  params = {.file = a.params.file,
            .target_file = write(a.folder, "ys.npz", four_arrays(true)),
            .array = "x",
            .target_array = "y",
            .test_array = "tx",
            .test_target_array = "ty"};
  CHECK(archive::loaded(params).examples == 10);
}

TEST_CASE("npz: the only array needs no name and may hold its target in a column") {
  const scratch_folder folder;
  const auto table =
      npy("<f8", "(6, 2)", raw<double>({1, 0, 3, 1, 5, 0, 7, 1, 9, 0, 7, 1}));
  data_params params{
      .file = write(folder, "d.npz", npz({{"read.me", "hello"}, {"arr_0.npy", table}}))};
  CHECK(archive::loaded(params).labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  params.target = "1";
  params.task = regression;
  CHECK(archive::loaded(params).shape == tensor_shape{{1}});
}

TEST_CASE("npz: compressed ones and those with the sizes of zip64 are the same") {
  const archive a;
  const auto data = a.loaded();
  write(a.folder, "d.npz", four_arrays(true));
  CHECK(a.loaded().features == data.features);
  auto params = a.params;
  params.array.clear();
  params.target_array.clear();
  params.target_file = write(a.folder, "y.npy", labels());
  params.file = write(a.folder, "x64.npz", npz64("x.npy", features()));
  CHECK(archive::loaded(params).features == data.features);
}

TEST_CASE("npz: what array is meant must be said where there are several") {
  const archive a;
  CHECK(a.error_with([](data_params& p) { p.array.clear(); })
        == "d.npz: say which array is meant, array = \"x\"; there are \"x\", \"y\", "
           "\"tx\", \"ty\"");
  CHECK(a.error_with([](data_params& p) {
    p.target_array.clear();
    p.target_file = p.file;
  })
        == "d.npz: say which array is meant, target_array = \"x\"; there are \"x\", "
           "\"y\", \"tx\", \"ty\"");
  CHECK(a.error_with([](data_params& p) { p.target_array = "yy"; })
        == "d.npz: no array is \"yy\", the target_array; did you mean \"ty\"?");
  CHECK(a.error_with([](data_params& p) { p.array = "images"; })
        == "d.npz: no array is \"images\", the array; there are \"x\", \"y\", \"tx\", "
           "\"ty\"");
  CHECK(a.error_with([](data_params& p) { p.target_array.clear(); }) == "no error");
  CHECK(error_of("d.npz", npz({{"a.csv", "1,2\n"}}))
        == "d.npz: is a zip archive that holds no array (.npy), but \"a.csv\"; unzip it, "
           "and "
           "name that file");
}

TEST_CASE("npz: what is wrong with an array names it and its byte") {
  const archive a;
  const auto with = [&](const std::string& x, const std::string& y) {
    write(a.folder, "d.npz", npz({{"x.npy", x}, {"y.npy", y}}));
    return a.error_with([](data_params&) {});
  };
  CHECK(with(features().substr(0, 140), labels())
            .starts_with("d.npz: x.npy: byte 140: the file ends here, too early: 12 "));
  CHECK(with(features(), npy("|u1", "(3,)", "\1\1\1"))
        == "d.npz: y.npy: holds targets of [3], where d.npz: x.npy holds 8 examples");
  CHECK(with(features(), npy("<f4", "(1,)", raw<float>({0.5F})))
            .starts_with("d.npz: y.npy: holds targets of [1]"));
  CHECK(with("no array", labels())
        == "d.npz: x.npy: byte 0: not a .npy file: it would begin with \\x93NUMPY");
}

TEST_CASE("npz: damage is named with the file and the array") {
  const archive a;
  const auto whole = read_text(a.params.file);
  write(a.folder, "d.npz", whole.substr(0, whole.size() / 2));
  CHECK(a.error_with([](data_params&) {})
        == "d.npz: no .npz archive that ends where it must (Not a zip archive); if it "
           "was cut off, fetch it again");
  auto bent = whole;
  bent[whole.find("NUMPY") + 130] ^= 1;
  write(a.folder, "d.npz", bent);
  CHECK(a.error_with([](data_params&) {})
        == "d.npz: x.npy: the zip data is damaged (CRC error); fetch the file again");
}

TEST_CASE("npz: headers are judged before any values are unzipped") {
  const archive a;
  // Damage at the end of the values would be said if they were unzipped.
  const std::string values(400'000, '\1');
  const auto error = [&](const std::string& x, const std::string& y) {
    auto bytes = npz({{"x.npy", x}, {"y.npy", y}});
    for (const auto* one : {&x, &y})
      if (one->size() > values.size())
        bytes[bytes.find(*one) + one->size() - 1] ^= 1;
    write(a.folder, "d.npz", bytes);
    return a.error_with([](data_params&) {});
  };
  const auto x = npy("<f4", "(50000, 2)", values);
  CHECK(error(x, npy("|u1", "(3,)", "\1\1\1"))
        == "d.npz: y.npy: holds targets of [3], where d.npz: x.npy holds 50000 examples");
  CHECK(
      error(features(), npy("|u1", "(400000,)", values))
      == "d.npz: y.npy: holds targets of [400000], where d.npz: x.npy holds 8 examples");
  CHECK(error(npy("<f4", "(4294967296, 4294967296, 4)", values), labels())
            .starts_with("d.npz: x.npy: byte 400128: the file ends here, too early"));
  CHECK(error(features(), npy("|S100000", "(4,)", values))
            .starts_with("d.npz: y.npy: byte 10: its texts have room for 100000 "
                         "characters each, where at most 65536 are read"));
  // It is said where they are.
  CHECK(error(x, npy("|u1", "(50000,)", std::string(50'000, '\1')))
        == "d.npz: x.npy: the zip data is damaged (CRC error); fetch the file again");
}

TEST_CASE("npz: a member that unzips to more than the directory says is damaged") {
  const archive a;
  const auto x = npy("<f4", "(8, 2)", raw<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6}));
  auto bytes = npz({{"x.npy", x + std::string(20'000, '\0')}, {"y.npy", labels()}}, true);
  // The size is a number of 32 bits in the member's own header and in the directory.
  const auto number = [](std::uint32_t n) {
    return std::string(reinterpret_cast<const char*>(&n), 4);
  };
  const auto size = static_cast<std::uint32_t>(x.size());
  std::size_t changed = 0;
  for (auto at = bytes.find(number(size + 20'000)); at != std::string::npos;
       at = bytes.find(number(size + 20'000)), ++changed)
    bytes.replace(at, 4, number(size + 16));
  REQUIRE(changed > 0);
  write(a.folder, "d.npz", bytes);
  CHECK(a.error_with([](data_params&) {})
        == "d.npz: x.npy: the zip data is damaged (a member unzips to more than the "
           "directory says); fetch the file again");
}

TEST_CASE("npz: values are unzipped wherever they are asked for") {
  std::string values;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    values.append(reinterpret_cast<const char*>(&i), 4);
  const auto bytes = npz({{"x.npy", npy("<u4", "(50000, 2)", values)}}, true);
  auto packed = npz_array::open(bytes, "", "array");
  REQUIRE(packed);
  auto all = array_values::of(std::move(*packed), "d.npz", {});
  REQUIRE(all);
  CHECK(all->count() == 100'000);
  for (const std::size_t first : {0, 7, 90'000, 99'999, 3, 50'000}) {
    const auto part = all->part(first, 1);
    REQUIRE(part);
    CHECK((*part)[0] == static_cast<double>(first));
  }
}

TEST_CASE("npz: keys of arrays are for archives") {
  const archive a;
  const auto csv = write(a.folder, "x.csv", "1,a\n2,b\n");
  CHECK(a.error_with([&](data_params& p) { p = {.file = csv, .array = "x"}; })
        == "x.csv: is no .npz archive; remove array, which names an array of one");
  CHECK(a.error_with([&](data_params& p) { p = {.file = csv, .target_array = "x"}; })
        == "x.csv: is no .npz archive; remove target_array, which names an array of one");
  CHECK(a.error_with([&](data_params& p) {
    p.target_file = write(a.folder, "y.npy", labels());
  }) == "y.npy: is no .npz archive; remove target_array, which names an array of one");
  CHECK(a.error_with([&](data_params& p) {
    p.test_file = csv;
    p.test_target_array = "ty";
  })
        == "x.csv: is no .npz archive; remove test_target_array, which names an array of "
           "one");
  CHECK(a.error_with([](data_params& p) { p.test_target_array = "ty"; })
        == "test_target_array says nothing without a test_array or a test_file");
  CHECK(a.error_with([](data_params& p) { p.test_array = "tx"; })
        == "test_target_array and target_array go together: give both or none");
}

TEST_CASE("npz: any bytes are a member or an error of one line") {
  const auto whole = four_arrays(true);
  CHECK(rc::check([&] {
    auto bytes = whole;
    for (int edits = *rc::gen::inRange(1, 6); edits > 0; --edits)
      bytes[*rc::gen::inRange<std::size_t>(0, whole.size())] =
          *rc::gen::arbitrary<char>();
    bytes.resize(*rc::gen::element(whole.size(), whole.size() - 7, whole.size() + 3));
    const auto member =
        read_npz(bytes, *rc::gen::element<std::string>("x", "ty", ""), "array");
    // Behind a right checksum there is what was put in.
    if (member && member->name == "x.npy")
      RC_ASSERT(member->bytes == features());
    RC_ASSERT((member || member.error().message.find('\n') == std::string::npos));
  }));
}

TEST_CASE("npz: texts of a fixed length are classes, and no numbers") {
  const scratch_folder folder;
  const auto file =
      write(folder, "d.npz",
            npz({{"x.npy", features()},
                 {"y.npy", npy("|S3", "(8,)", "catdogcatdogcatdogcatdog")},
                 {"gap.npy",
                  npy("|S3", "(8,)", std::string("catdogcatdogcatdogcat\0\0\0", 24))}}));
  data_params params{.file = file, .array = "x", .target_array = "y"};
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->classes == std::vector<std::string>{"cat", "dog"});
  CHECK(data->labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1});
  const auto error = [&](auto change) {
    auto changed = params;
    change(changed);
    const auto read = load_data(changed, 1, {});
    return read ? "no error" : without(read.error().message, folder);
  };
  CHECK(error([](data_params& p) {
          p.task = regression;
        }).starts_with("d.npz: y.npy: holds texts, where the targets of a regression"));
  CHECK(error([](data_params& p) {
          p.target_array = "gap";
        }).ends_with("the target is blank"));
  CHECK(error([](data_params& p) {
          p.array = "y";
        }).find("its values are texts, where numbers must be")
        != std::string::npos);
}

TEST_CASE("npz: an archive of other files names them") {
  const scratch_folder folder;
  const auto error = [&](const std::string& bytes) {
    const auto read = load_data({.file = write(folder, "d.zip", bytes)}, 1, {});
    return read ? "no error" : without(read.error().message, folder);
  };
  CHECK(error(npz({{"churn.csv", "a,b\n"}}))
        == "d.zip: is a zip archive that holds no array (.npy), but \"churn.csv\"; unzip "
           "it, "
           "and name that file");
  CHECK(error(npz({{"archive/data.pkl", "\x80"}})).find("is a file of PyTorch")
        != std::string::npos);
}
