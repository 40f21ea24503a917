#include "engine/data/formats/numeric_array.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cstring>

using namespace clade;

namespace {

std::string error_text(const expected<numeric_array>& a) {
  return a ? "no error" : a.error().message;
}

std::vector<double> values(const expected<numeric_array>& a) {
  if (!a)
    FAIL(a.error().message);
  std::vector<double> out;
  for (std::size_t i = 0; i < a->count(); ++i)
    out.push_back((*a)[i]);
  return out;
}

using numbers = std::vector<double>;

} // namespace

TEST_CASE("idx: sizes and values are read big-endian") {
  const auto bytes = idx({2, 1, 3}, "\x01\x02\x03\x04\x05\xff");
  const auto a = parse_idx(bytes);
  CHECK(values(a) == numbers{1, 2, 3, 4, 5, 255});
  CHECK(a->sizes == std::vector<std::int64_t>{2, 1, 3});
  CHECK(a->byte_of(5) == 21);
  using namespace std::string_literals;
  CHECK(values(parse_idx("\0\0\x0B\x01\0\0\0\x02\x01\x02\xff\xff"s)) == numbers{258, -1});
  CHECK(values(parse_idx("\0\0\x0D\x01\0\0\0\x01\x3f\xc0\0\0"s)) == numbers{1.5});
}

TEST_CASE("idx: what is cut off or damaged is named by its byte") {
  const auto whole = idx({2, 2}, "abcd");
  CHECK(error_text(parse_idx(whole)) == "no error");
  CHECK(error_text(parse_idx(whole.substr(0, 3)))
        == "byte 3: the file ends here, too early: an IDX file begins with 4 bytes that "
           "say what "
           "it holds");
  CHECK(error_text(parse_idx(whole.substr(0, 9)))
        == "byte 9: the file ends here, too early: the sizes of 2 dimensions end at byte "
           "12");
  CHECK(error_text(parse_idx(whole.substr(0, 15)))
        == "byte 15: the file ends here, too early: 3 bytes of values are there, too few "
           "for 2 x "
           "2 of 1 bytes each; it was cut off, fetch it again");
  CHECK(error_text(parse_idx(whole + "e"))
        == "byte 16: 1 bytes too many follow the 2 x 2 values");
  CHECK(error_text(parse_idx("abcd"))
        == "byte 0: not an IDX file: it would begin with two zero "
           "bytes");
  auto other = whole;
  other[2] = 7;
  CHECK(error_text(parse_idx(other))
        == "byte 2: IDX knows no type 7; the types are 8, 9, 11, 12, 13 and 14");
  other = whole;
  other[3] = 9;
  CHECK(error_text(parse_idx(other)) == "byte 3: 9 dimensions; 1 to 8 are read");
}

TEST_CASE("idx: sizes that multiply beyond all numbers are too many for the bytes") {
  CHECK(error_text(parse_idx(idx(std::vector<std::uint32_t>(8, 0xFFFFFFFF), "ab")))
            .starts_with(
                "byte 38: the file ends here, too early: 2 bytes of values are there"));
  CHECK(error_text(parse_idx(idx({0, 0xFFFFFFFF, 0xFFFFFFFF}, ""))) == "no error");
}

TEST_CASE("npy: every type and byte order is read") {
  CHECK(values(parse_npy(npy("<f4", "(2,)", raw<float>({1.5F, -2}))))
        == numbers{1.5, -2});
  CHECK(values(parse_npy(npy("<f8", "(1, 2)", raw<double>({1.5, -2}))))
        == numbers{1.5, -2});
  CHECK(values(parse_npy(npy("<i8", "(2,)", raw<std::int64_t>({7, -8}))))
        == numbers{7, -8});
  CHECK(values(parse_npy(npy("<u2", "(1,)", raw<std::uint16_t>({65535}))))
        == numbers{65535});
  CHECK(values(parse_npy(npy("|u1", "(3,)", "\x01\x02\xff"))) == numbers{1, 2, 255});
  CHECK(values(parse_npy(npy("|i1", "(1,)", "\xff"))) == numbers{-1});
  CHECK(values(parse_npy(npy(">i2", "(2,)", std::string_view("\x01\x02\xff\xfe", 4))))
        == numbers{258, -2});
}

TEST_CASE("npy: versions 2 and 3 have a longer length") {
  auto bytes = npy("<f4", "(1,)", raw<float>({3}));
  for (const char version : {2, 3}) {
    auto longer = bytes;
    longer[6] = version;
    longer.insert(10, 2, '\0');
    CHECK(values(parse_npy(longer)) == numbers{3});
  }
  bytes[6] = 4;
  CHECK(error_text(parse_npy(bytes)) == "byte 6: .npy of version 4; 1 to 3 are read");
}

TEST_CASE("npy: what is cut off or not to be read is named by its byte") {
  const auto whole = npy("<f4", "(2, 3)", raw<float>({1, 2, 3, 4, 5, 6}));
  CHECK(error_text(parse_npy(whole.substr(0, 20)))
        == "byte 20: the file ends here, too early: within its header; it was cut off, "
           "fetch it "
           "again");
  CHECK(error_text(parse_npy(whole.substr(0, whole.size() - 5)))
        == "byte " + std::to_string(whole.size() - 5)
               + ": the file ends here, too early: 19 bytes of values are there, too few "
                 "for 2 x "
                 "3 of 4 bytes each; it was cut off, fetch it again");
  CHECK(error_text(parse_npy("\x93NUMP"))
        == "byte 0: not a .npy file: it would begin with "
           "\\x93NUMPY");
  CHECK(error_text(parse_npy(npy("<c8", "(1,)", "12345678")))
        == "byte 10: values of type '<c8' are not read; use float32, float64 or whole "
           "numbers");
  CHECK(error_text(parse_npy(npy("<f4", "(1, x)", "1234")))
        == "byte 64: the header is not one that numpy writes");
  auto fortran = whole;
  fortran.replace(fortran.find("False"), 5, "True ");
  CHECK(error_text(parse_npy(fortran))
        == "byte 10: the array is in Fortran order; save numpy.ascontiguousarray(x)");
}

TEST_CASE("arrays: any bytes are an array that lies within them or an error") {
  const auto lies_within = [](const std::string& bytes,
                              const expected<numeric_array>& a) {
    if (!a)
      return !a.error().message.empty();
    // Read every value: the sanitizers see a view that leaves the bytes.
    std::vector<double> all;
    for (std::size_t i = 0; i < a->count(); ++i)
      all.push_back((*a)[i]);
    return a->offset + all.size() * size_of(a->type) == bytes.size();
  };
  const auto whole_idx = idx({3, 2}, "abcdef");
  const auto whole_npy = npy("<i4", "(2, 2)", raw<std::int32_t>({1, 2, 3, 4}));
  CHECK(rc::check([&](std::string bytes) {
    RC_ASSERT(lies_within(bytes, parse_idx(bytes)));
    RC_ASSERT(lies_within(bytes, parse_npy(bytes)));
  }));
  CHECK(rc::check([&] {
    for (auto bytes : {whole_idx, whole_npy}) {
      const auto edits = *rc::gen::inRange<int>(1, 4);
      for (int i = 0; i < edits; ++i)
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
            *rc::gen::arbitrary<char>();
      bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 4));
      RC_ASSERT(lies_within(bytes, parse_idx(bytes)));
      RC_ASSERT(lies_within(bytes, parse_npy(bytes)));
    }
  }));
}
