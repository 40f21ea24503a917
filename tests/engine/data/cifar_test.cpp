#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

// Records of those labels; the pixels of the n-th are all n.
std::string batch(const std::vector<std::string>& labels) {
  std::string out;
  for (std::size_t i = 0; i < labels.size(); ++i)
    out += labels[i] + std::string(3072, static_cast<char>(i));
  return out;
}

std::string ten(const std::string& labels) {
  std::vector<std::string> records;
  for (const char c : labels)
    records.emplace_back(1, c);
  return batch(records);
}

const std::string one_to_eight = "\1\2\1\2\1\2\1\2";

} // namespace

TEST_CASE("cifar: a record is a label and an image of three channels") {
  const scratch_folder folder;
  for (const auto& file : {write(folder, "a.bin", ten(one_to_eight)),
                           write(folder, "a.bin.gz", gzip(ten(one_to_eight)))}) {
    const auto data = load_data({.file = file}, 1);
    REQUIRE(data);
    CHECK(data->shape == tensor_shape{{3, 32, 32}});
    CHECK(data->examples == 8);
    CHECK(data->classes == std::vector<std::string>{"1", "2"});
    CHECK(data->labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1});
    CHECK(data->features[0] == 0);
    CHECK(data->features[2 * 3072] == data->features[2 * 3072 + 3071]);
    CHECK(data->features[6 * 3072] == Approx(3 * data->features[2 * 3072]));
  }
}

TEST_CASE("cifar: of two labels the target says which") {
  const scratch_folder folder;
  const auto file = write(folder, "a.bin",
                          batch({"\1\x50", "\1\x51", "\2\x50", "\2\x51", "\1\x50",
                                 "\2\x51", "\1\x51", "\2\x50"}));
  const auto classes = [&](const char* target) {
    const auto data = load_data({.file = file, .target = target}, 1);
    return data ? data->classes : std::vector<std::string>{data.error().message};
  };
  CHECK(classes("last") == std::vector<std::string>{"80", "81"});
  CHECK(classes("2") == std::vector<std::string>{"80", "81"});
  CHECK(classes("1") == std::vector<std::string>{"1", "2"});
  CHECK(classes("3")
        == std::vector<std::string>{
            file.string()
            + ": no label is the target \"3\"; use a number from 1 to 2, or \"last\""});
}

TEST_CASE("cifar: what is wrong is named with its byte") {
  CHECK(error_of("a.bin", ten(one_to_eight).substr(0, 5000))
        == "a.bin: 5000 bytes are no whole number of CIFAR's records of 3073 or 3074; if "
           "it was cut off, fetch it again");
  CHECK(error_of("a.bin", "")
        == "a.bin: 0 bytes are no whole number of CIFAR's records of 3073 or 3074; if it "
           "was cut off, fetch it again");
  CHECK(error_of("a.bin", ten("\1\2\x0B\2"))
        == "a.bin: byte 6146: label 11 is neither of CIFAR-10 nor of CIFAR-100");
  CHECK(error_of("a.bin", ten("\1\2\1\2\3\1\2"))
        == "a.bin: byte 12292: class \"3\" has this one member; two are the least");
  CHECK(error_of("a.bin", ten(one_to_eight), {.task = regression})
        == "a.bin: CIFAR's labels are classes; say task = \"classification\"");
}

TEST_CASE("cifar: any bytes of its length are a data set or an error") {
  const scratch_folder folder;
  CHECK(rc::check([&] {
    auto bytes = ten(one_to_eight);
    bytes.resize(static_cast<std::size_t>(*rc::gen::inRange(1, 9))
                 * *rc::gen::element<std::size_t>(3073, 3074, 3000));
    for (int i = 0; i < 8; ++i)
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
          *rc::gen::arbitrary<char>();
    const auto file = write(folder, "a.bin", bytes);
    const auto data = load_data({.file = file}, 1);
    if (!data)
      RC_ASSERT(data.error().message.starts_with(file.string()));
    else
      RC_ASSERT(data->features.size() == data->examples * 3072);
  }));
}
