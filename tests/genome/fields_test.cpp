#include "genome/codec/fields.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <chrono>
#include <map>

using namespace clade;

namespace clade::fields_test {

enum class colour : std::uint8_t { red = 0, blue = 1 };

struct inner {
  std::string name;
  double number = 0;
  friend bool operator==(const inner&, const inner&) = default;
};

struct outer {
  std::uint64_t id = 0;
  std::uint32_t small = 0;
  bool yes = false;
  fields_test::colour colour = fields_test::colour::red;
  std::optional<double> maybe;
  std::vector<inner> list;
  std::map<std::string, std::int64_t> counts;
  std::chrono::milliseconds time{0};
  std::string note;
  std::shared_ptr<const inner> details;
};

bool is_known(colour c) {
  return c <= colour::blue;
}

void check_read(decoder& in, const inner& i) {
  if (i.name == "refused")
    in.fail("a name that is refused");
}

void fields(auto& v, like<inner> auto& i) {
  v("name", i.name);
  v("number", i.number);
}

struct with_optional {
  std::uint64_t id = 0;
  std::optional<inner> more{};

  friend bool operator==(const with_optional&, const with_optional&) = default;
};

void fields(auto& v, like<with_optional> auto& o) {
  v("id", o.id);
  v.last("more", o.more);
}

struct with_several {
  std::uint64_t id = 0;
  std::optional<std::uint64_t> first{};
  std::optional<inner> second{};
  std::optional<std::string> third{};

  friend bool operator==(const with_several&, const with_several&) = default;
};

void fields(auto& v, like<with_several> auto& s) {
  v("id", s.id, not_in_json());
  v.last("first", s.first);
  v.last("second", s.second, null_unless(s.second.has_value()));
  v.last("third", s.third);
}

void fields(auto& v, like<outer> auto& o) {
  v("id", o.id);
  v.group(o.small, o.yes);
  v("colour", o.colour);
  v("maybe", o.maybe);
  v("list", o.list);
  v("counts", o.counts);
  v("time", o.time);
  v.aside("note", o.note);
  v.last("details", o.details);
}

} // namespace clade::fields_test

using namespace clade::fields_test;

namespace {

bytes written(const outer& o, bool decisive = false) {
  encoder out;
  write_field(out, o, decisive);
  return out.take();
}

std::string refused(const bytes& data) {
  decoder d(data);
  std::ignore = read_as<outer>(d);
  const auto done = d.finish();
  return done ? "" : done.error().message;
}

} // namespace

TEST_CASE("fields: what was written is read, with and without a last field") {
  REQUIRE(rc::check("any struct", [](std::uint64_t id, std::uint32_t small, bool yes,
                                     const std::string& text, bool some) {
    outer o{.id = id, .small = small, .yes = yes, .colour = colour::blue, .note = text};
    if (some) {
      o.maybe = 0.5;
      o.list = {{"a", 1}, {text, -2.5}};
      o.counts = {{"a", -1}, {text, 5}};
      o.time = std::chrono::milliseconds(id >> 1);
      o.details = std::make_shared<const inner>(inner{"b", 3});
    }
    const auto data = written(o);
    decoder d(data);
    const auto read = read_as<outer>(d);
    RC_ASSERT(d.finish().has_value());
    RC_ASSERT(written(read) == data);
    RC_ASSERT(read.small == small);
    RC_ASSERT(read.list == o.list);
    RC_ASSERT((read.details != nullptr) == some);
  }));
  for (const with_optional& o :
       {with_optional{7, std::nullopt}, with_optional{7, inner{"b", 3}}}) {
    encoder out;
    write_field(out, o);
    const auto data = out.take();
    CHECK(static_cast<unsigned char>(data[0]) == (o.more ? 0x92 : 0x91));
    decoder d(data);
    CHECK(read_as<with_optional>(d) == o);
    CHECK(d.finish());
  }
  REQUIRE(rc::check("any map", [](std::uint64_t id, const std::string& text) {
    encoder out;
    write_map(out, inner{text, static_cast<double>(id)});
    const auto data = out.take();
    decoder d(data);
    RC_ASSERT((read_map<inner>(d) == inner{text, static_cast<double>(id)}));
    RC_ASSERT(d.finish().has_value());
  }));
  REQUIRE(rc::check("any bytes", [](const std::string& data) {
    if (refused(data).empty()) {
      decoder d(data);
      RC_ASSERT(!written(read_as<outer>(d)).empty());
    }
  }));
}

TEST_CASE("fields: of several last fields those up to the last with a value are stored") {
  const auto bytes_of = [](const with_several& s) {
    encoder out;
    write_field(out, s);
    return out.take();
  };
  CHECK(bytes_of({.id = 7}) == encoder().array(1).natural(7).take());
  CHECK(bytes_of({.id = 7, .first = 1})
        == encoder().array(2).natural(7).natural(1).take());
  CHECK(bytes_of({.id = 7, .third = "x"})
        == encoder().array(4).natural(7).nil().nil().text("x").take());
  for (const with_several& s :
       {with_several{.id = 7}, with_several{.id = 7, .first = 1},
        with_several{.id = 7, .second = inner{"b", 3}},
        with_several{.id = 7, .third = ""},
        with_several{.id = 7, .first = 1, .second = inner{"b", 3}, .third = "x"}}) {
    const auto data = bytes_of(s);
    decoder d(data);
    CHECK(read_as<with_several>(d) == s);
    CHECK(d.finish());
  }
  // An empty one at the end would be a second form of the same value.
  for (const auto& other :
       {encoder().array(2).natural(7).nil().take(),
        encoder().array(5).natural(7).nil().nil().nil().nil().take()}) {
    decoder d(other);
    std::ignore = read_as<with_several>(d);
    CHECK_FALSE(d.finish());
  }
}

TEST_CASE("fields: the bytes are an array of the values in their order") {
  CHECK(written({.id = 7, .small = 3, .yes = true, .colour = colour::blue, .note = "x"})
        == encoder()
               .array(8)
               .natural(7)
               .array(2)
               .natural(3)
               .boolean(true)
               .natural(1)
               .nil()
               .array(0)
               .array(0)
               .integer(0)
               .text("x")
               .take());
}

TEST_CASE("fields: what stands aside decides nothing") {
  outer one{.id = 1, .note = "x"};
  outer other{.id = 1, .note = "y", .details = std::make_shared<const inner>()};
  CHECK(written(one) != written(other));
  CHECK(written(one, true) == written(other, true));
  CHECK(count_fields(one, true).count == 7);
  other.list.push_back({});
  CHECK(written(one, true) != written(other, true));
}

TEST_CASE("fields: what does not fit is refused in a sentence") {
  const auto with = [](std::uint64_t small, std::uint64_t colour, const char* name) {
    encoder out;
    out.array(8).natural(1).array(2).natural(small).boolean(false).natural(colour);
    out.nil().array(1).array(2).text(name).real(0).array(0).integer(0).text("");
    return out.take();
  };
  CHECK(refused(with(1, 1, "")).empty());
  CHECK_THAT(refused(with(1, 2, "")), Catch::Contains("unknown colour 2"));
  CHECK_THAT(refused(with(1, 256, "")), Catch::Contains("unknown colour 256"));
  CHECK_THAT(refused(with(1ULL << 32, 1, "")), Catch::Contains("4294967296 is out of"));
  CHECK_THAT(refused(with(1, 1, "refused")), Catch::Contains("a name that is refused"));
  encoder three;
  three.array(3).nil().nil().nil();
  CHECK_THAT(refused(three.take()), Catch::Contains("3 fields instead of 8"));
  const auto named = encoder().map(2).text("number").real(0).text("name").text("").take();
  decoder d(named);
  std::ignore = read_map<inner>(d);
  CHECK_THAT(d.finish().error().message, Catch::Contains("\"name\" is meant"));
}
