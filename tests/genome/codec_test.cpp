#include "genome/codec/codec.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/genome/wild_genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;
using namespace clade::test;

namespace {

std::string hexadecimal(const bytes& data) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : data) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// Any bytes must give a genome that is sound and is given back by its own encoding, or
/// an error that says something.
void require_total(const bytes& data) {
  const auto decoded = decode_genome(data);
  if (!decoded) {
    REQUIRE(decoded.error().kind == error_kind::corrupt);
    REQUIRE(!decoded.error().message.empty());
    return;
  }
  REQUIRE(check_structure(*decoded).has_value());
  const auto again = decode_genome(encode(*decoded));
  REQUIRE(again.has_value());
  REQUIRE(*again == *decoded);
}

} // namespace

TEST_CASE("codec: the bytes of one genome are these for ever") {
  genome g = a_chain({{{}, "relu", {}}});
  g.hyperparameters = {{"epochs", std::int64_t{3}}, {"rate", 0.5}};
  g.edges[0].weight = 2.0;
  g.edges[1].id = innovation{~std::uint64_t{0}};
  CHECK(hexadecimal(encode(g))
        == "93939300a5696e707574809301a66f7574707574809302a472656c75809294020109cb40000"
           "0000000000094000205cfffffffffffffffff82a665706f63687303a472617465cb3fe0000000"
           "000000");
}

TEST_CASE("codec: genomes come back as they were") {
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const genome g = a_wild_genome({.nodes = 1 + i % 40}, random);
    const auto back = decode_genome(encode(g));
    REQUIRE(back.has_value());
    REQUIRE(*back == g);
  }
}

TEST_CASE("codec: a whole real comes back as a real") {
  genome g = a_genome();
  assign(g.hyperparameters, "momentum", 1.0);
  CHECK(*decode_genome(encode(g)) == g);
  encoder e;
  e.real(1.0).real(-0.0).integer(1);
  const bytes data = e.take();
  decoder d(data);
  CHECK(d.value() == value(1.0));
  CHECK(std::signbit(std::get<double>(d.value())));
  CHECK(d.value() == value(std::int64_t{1}));
}

TEST_CASE("codec: changed bytes give a sound genome or an error") {
  std::size_t decoded = 0;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    random_stream random = derive(2, purpose::sample, 0, i);
    bytes data = encode(i % 2 == 0 ? a_wild_genome({}, random)
                                   : sample_genome(small_grammar(), random));
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
      data[random.below(data.size())] = static_cast<char>(random.next());
    require_total(data);
    decoded += decode_genome(data).has_value() ? 1 : 0;
  }
  CHECK(decoded > 100); // the test is about both outcomes
}

TEST_CASE("codec: a genome cut short at any byte is an error") {
  random_stream random = derive(3, purpose::sample, 0, 0);
  const bytes data = encode(a_wild_genome({}, random));
  for (std::size_t size = 0; size < data.size(); ++size)
    REQUIRE_FALSE(decode_genome(std::span(data).first(size)).has_value());
  CHECK_FALSE(decode_genome(data + '\0').has_value());
}

TEST_CASE("codec: spliced and random bytes give a sound genome or an error") {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    random_stream random = derive(4, purpose::sample, 0, i);
    const bytes a = encode(a_wild_genome({}, random)),
                b = encode(a_wild_genome({}, random));
    require_total(a.substr(0, random.below(a.size())) + b.substr(random.below(b.size())));
  }
  CHECK(rc::check("any bytes", [](const std::string& data) { require_total(data); }));
}

TEST_CASE("codec: sizes that the bytes cannot hold are refused before memory is taken") {
  using namespace std::string_literals;
  // A list of three whose nodes claim to be 4,294,967,295.
  CHECK(decode_genome("\x93\xdd\xff\xff\xff\xff"s).error().message
        == "byte 6: ends before a list of 4294967295");
  CHECK(
      decode_genome("\x93\x91\x93\x00\xa2op\xdf\xff\xff\xff\xff\x00\x00"s).error().message
      == "byte 12: ends before a map of 4294967295");
  CHECK(decode_genome("\x93\x91\x93\x00\xdb\xff\xff\xff\xffop"s).error().message
        == "byte 11: ends before the end of a text or of bytes");
  CHECK(decode_genome(bytes(max_genome_bytes + 1, '\x90')).error().message
        == "a genome of 1048577 bytes; at most 1048576 are taken");
}

TEST_CASE("codec: the largest genome that fits is read in one go") {
  genome g = a_chain({});
  for (std::uint64_t i = 2; i < 40'000; ++i)
    g.nodes.push_back({innovation{i}, "x", {}});
  for (std::uint64_t i = 2; i + 1 < 40'000; ++i)
    g.edges.push_back(an_edge(innovation{i}, innovation{i + 1}));
  g = sorted(std::move(g));
  const bytes data = encode(g);
  REQUIRE(data.size() < max_genome_bytes);
  CHECK(*decode_genome(data) == g);
}

TEST_CASE(
    "codec: an edge to no node or with unknown flags or missing fields is an error") {
  const auto with_edge = [](std::size_t fields, std::uint64_t to, std::uint64_t flags) {
    encoder e;
    e.array(3).array(2);
    e.array(3).natural(0).text("input").map(0);
    e.array(3).natural(1).text("output").map(0);
    e.array(1).array(fields).natural(0).natural(to).natural(flags);
    for (std::size_t i = 3; i < fields; ++i)
      e.natural(7);
    const auto decoded = decode_genome(e.map(0).take());
    return decoded ? "" : decoded.error().message;
  };
  CHECK(with_edge(3, 1, 1) == "");
  CHECK(with_edge(4, 1, 5) == "");
  const std::string refused = "byte 22: not an edge between the genome's nodes";
  CHECK(with_edge(3, 2, 1) == refused);
  CHECK(with_edge(3, 1, 17) == refused);
  CHECK(with_edge(3, 1, 5) == refused);
  CHECK(with_edge(4, 1, 1) == refused);
}

TEST_CASE("codec: a genome whose structure is broken is an error that says so") {
  encoder e;
  e.array(3).array(2);
  e.array(3).natural(0).text("input").map(0).array(3).natural(1).text("output").map(0);
  e.array(0).map(0);
  CHECK(decode_genome(e.take()).error().message
        == "genome at byte 0: the output is not reached from the input");
}

TEST_CASE("codec: a genome may stand among other values") {
  encoder e;
  e.array(3).integer(-5).encode(a_genome()).text("end");
  const bytes data = e.take();
  decoder d(data);
  d.array(3);
  CHECK(d.integer() == -5);
  CHECK(d.genome() == a_genome());
  CHECK(d.text() == "end");
  CHECK(d.finish().has_value());
}
