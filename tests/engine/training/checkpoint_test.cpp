#include "engine/training/weights/checkpoint.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

checkpoint a_checkpoint() {
  checkpoint c;
  c.genome = test::a_chain({{{}, "dense", {{"units", std::int64_t{2}}}}});
  c.weights = {{"n3.weight", {2, 1}, {1, -2}}, {"n3.bias", {2}, {0, 0.5F}}};
  c.position = training_position{.key = 7,
                                 .epochs = 3,
                                 .weights = c.weights,
                                 .best = {{"validation.loss", 0.25}},
                                 .lowest_loss = 0.25,
                                 .since_lowest = 1,
                                 .optimiser = "sgd",
                                 .steps = 12,
                                 .moments = {{"", {2}, {3, 4}}},
                                 .generators = {bytes("\1\0\2", 3), ""}};
  c.position->weights[0].values[0] = 9;
  return c;
}

error_kind kind_of(const bytes& data) {
  const auto decoded = decode_checkpoint(data);
  return decoded ? error_kind::internal : decoded.error().kind;
}

} // namespace

TEST_CASE("checkpoint: what is decoded is what was encoded") {
  auto c = a_checkpoint();
  REQUIRE(decode_checkpoint(encode_checkpoint(c)));
  CHECK(*decode_checkpoint(encode_checkpoint(c)) == c);
  const auto without = encode_checkpoint(c);
  c.position->average = {{"", {2}, {5, 6}}};
  CHECK(*decode_checkpoint(encode_checkpoint(c)) == c);
  CHECK(encode_checkpoint(c).size() > without.size());
  c.position.reset();
  CHECK(*decode_checkpoint(encode_checkpoint(c)) == c);
}

TEST_CASE("checkpoint: a flipped bit anywhere is an error") {
  auto c = a_checkpoint();
  c.position->average = c.weights;
  const auto good = encode_checkpoint(c);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      INFO("bit " << bit << " of byte " << i);
      REQUIRE(kind_of(bad) == error_kind::corrupt);
    }
}

TEST_CASE("checkpoint: bytes that are missing or left over are an error") {
  const auto good = encode_checkpoint(a_checkpoint());
  for (std::size_t length = 0; length < good.size(); ++length)
    REQUIRE(kind_of(good.substr(0, length)) == error_kind::corrupt);
  CHECK(kind_of(good + '\0') == error_kind::corrupt);
}

TEST_CASE("checkpoint: any bytes are decoded or refused") {
  REQUIRE(rc::check([](const std::string& data) {
    if (const auto decoded = decode_checkpoint(data))
      RC_ASSERT(encode_checkpoint(*decoded) == data);
  }));
}
