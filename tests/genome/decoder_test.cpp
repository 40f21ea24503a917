#include "genome/codec/codec.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <limits>

using namespace clade;
using namespace std::string_literals;

namespace {

/// Returns the final result of one read of these bytes.
template<class Read>
std::string complaint(const bytes& data, Read read) {
  decoder d(data);
  read(d);
  const auto done = d.finish();
  return done ? "" : done.error().message;
}

std::int64_t integer_in(const bytes& data) {
  decoder d(data);
  const std::int64_t v = d.integer();
  REQUIRE(d.finish().has_value());
  return v;
}

} // namespace

TEST_CASE("decoder: integers are read in every width that msgpack has") {
  CHECK(integer_in("\x7f"s) == 127);
  CHECK(integer_in("\xe0"s) == -32);
  CHECK(integer_in("\xcc\xff"s) == 255);
  CHECK(integer_in("\xcd\x01\x00"s) == 256);
  CHECK(integer_in("\xce\x00\x01\x00\x00"s) == 65536);
  CHECK(integer_in("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"s) == 4294967296);
  CHECK(integer_in("\xd0\x80"s) == -128);
  CHECK(integer_in("\xd1\xff\x00"s) == -256);
  CHECK(integer_in("\xd2\xff\xff\x00\x00"s) == -65536);
  CHECK(integer_in("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"s)
        == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("decoder: numbers that do not fit are errors") {
  const auto integer = [](decoder& d) { CHECK(d.integer() == 0); };
  const auto natural = [](decoder& d) { CHECK(d.natural() == 0); };
  CHECK(complaint("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"s, integer)
        == "byte 0: not a 64-bit integer");
  CHECK(complaint("\xff"s, natural) == "byte 0: not a natural number");
  CHECK(complaint("\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"s, integer)
        == "byte 0: not a 64-bit integer");
  CHECK(complaint("\xcd\x01"s, natural) == "byte 2: ends before the end of a number");
}

TEST_CASE("decoder: a real may be written as a float or as an integer") {
  const auto real_in = [](const bytes& data) {
    decoder d(data);
    const double v = d.real();
    REQUIRE(d.finish().has_value());
    return v;
  };
  CHECK(real_in("\xca\x3f\x00\x00\x00"s) == 0.5);
  CHECK(real_in("\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00"s) == 0.5);
  CHECK(real_in("\x05"s) == 5);
  CHECK(real_in("\xfb"s) == -5);
  CHECK(complaint("\xa1x"s, [](decoder& d) { d.real(); }) == "byte 0: not a number");
}

TEST_CASE("decoder: whatever was written comes back") {
  CHECK(rc::check("scalars", [](std::int64_t i, std::uint64_t n, double r, bool b,
                                const std::string& t) {
    encoder e;
    e.integer(i).natural(n).real(r).boolean(b).text(t).binary(t).nil();
    const bytes data = e.take();
    decoder d(data);
    RC_ASSERT(d.integer() == i);
    RC_ASSERT(d.natural() == n);
    RC_ASSERT(d.real() == r);
    RC_ASSERT(d.boolean() == b);
    RC_ASSERT(!d.is_nil());
    RC_ASSERT(d.text() == t);
    RC_ASSERT(d.binary() == t);
    RC_ASSERT(d.is_nil());
    RC_ASSERT(d.finish().has_value());
  }));
}

TEST_CASE("decoder: long texts and lists come back in every width that msgpack has") {
  for (const std::size_t size : {0, 15, 16, 31, 32, 255, 256, 65535, 65536, 100'000}) {
    encoder e;
    e.text(std::string(size, 't')).binary(std::string(size, 'b')).array(size);
    for (std::size_t i = 0; i < size; ++i)
      e.nil();
    e.map(size);
    for (std::size_t i = 0; i < 2 * size; ++i)
      e.nil();
    const bytes data = e.take();
    decoder d(data);
    CHECK(d.text() == std::string(size, 't'));
    CHECK(d.binary() == std::string(size, 'b'));
    CHECK(d.array() == size);
    for (std::size_t i = 0; i < size; ++i)
      REQUIRE(d.is_nil());
    CHECK(d.map() == size);
    for (std::size_t i = 0; i < 2 * size; ++i)
      REQUIRE(d.is_nil());
    CHECK(d.finish().has_value());
  }
}

TEST_CASE("decoder: the first error sticks and all that follows is empty") {
  const bytes data = "\xc3\x01\x02"s;
  decoder d(data);
  CHECK(d.natural() == 0);
  CHECK(d.failed());
  CHECK_FALSE(d.boolean());
  CHECK(d.integer() == 0);
  CHECK(d.text().empty());
  CHECK(d.array() == 0);
  CHECK(d.map() == 0);
  CHECK_FALSE(d.is_nil());
  CHECK(d.settings().empty());
  CHECK(d.genome() == genome{});
  d.fail("a later error");
  CHECK(d.finish().error() == error{error_kind::corrupt, "byte 0: not a natural number"});
}

TEST_CASE("decoder: errors of the caller and bytes left over are reported") {
  CHECK(complaint("\x09"s,
                  [](decoder& d) {
                    if (d.natural() > 7)
                      d.fail("unknown record kind 9");
                  })
        == "unknown record kind 9");
  CHECK(complaint("\x09\x01\x01"s, [](decoder& d) { d.natural(); })
        == "byte 1: 2 bytes too many");
  CHECK(complaint("\x92\x01\x01"s, [](decoder& d) { d.array(3); })
        == "byte 0: a list of 2, not of 3");
  CHECK(complaint(""s, [](decoder& d) { d.text(); }) == "byte 0: ends before a text");
}

TEST_CASE("decoder: a size larger than what is left is an error") {
  CHECK(complaint("\x93\x01\x01"s, [](decoder& d) { CHECK(d.array() == 0); })
        == "byte 1: ends before a list of 3");
  CHECK(complaint("\x82\x01\x01\x01"s, [](decoder& d) { CHECK(d.map() == 0); })
        == "byte 1: ends before a map of 2");
  CHECK(complaint("\xdc\x00"s, [](decoder& d) { CHECK(d.array() == 0); })
        == "byte 2: ends before the end of a number");
  CHECK(complaint("\xc6\x00\x00\x00\x02x"s, [](decoder& d) { CHECK(d.binary().empty()); })
        == "byte 6: ends before the end of a text or of bytes");
}
