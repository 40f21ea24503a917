#include "engine/training/weights/weights.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

std::vector<weight_tensor> some_weights() {
  return {{"n3f2a1.weight", {2, 3}, {1, -2, 0.5F, 4, 1e-30F, 6}},
          {"n3f2a1.bias", {2}, {0, -0.0F}},
          {"scalar", {}, {7}},
          {"empty", {0, 4}, {}}};
}

error_kind kind_of(const bytes& data) {
  const auto decoded = decode_weights(data);
  return decoded ? error_kind::internal : decoded.error().kind;
}

} // namespace

TEST_CASE("weights: what is decoded is what was encoded") {
  CHECK(decode_weights(encode_weights(some_weights())) == some_weights());
  CHECK(decode_weights(encode_weights({})) == std::vector<weight_tensor>{});
}

TEST_CASE("weights: equal weights are equal bytes") {
  CHECK(encode_weights(some_weights()) == encode_weights(some_weights()));
}

TEST_CASE("weights: a flipped bit anywhere is an error") {
  const auto good = encode_weights(some_weights());
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      INFO("bit " << bit << " of byte " << i);
      REQUIRE(kind_of(bad) == error_kind::corrupt);
    }
}

TEST_CASE("weights: bytes that are missing or left over are an error") {
  const auto good = encode_weights(some_weights());
  for (std::size_t length = 0; length < good.size(); ++length)
    REQUIRE(kind_of(good.substr(0, length)) == error_kind::corrupt);
  CHECK(kind_of(good + '\0') == error_kind::corrupt);
}

TEST_CASE("weights: a shape that its values do not fill is an error") {
  const auto shaped = [](std::vector<std::int64_t> shape) {
    return kind_of(
        encode_weights(std::vector<weight_tensor>{{"w", shape, {1, 2, 3, 4}}}));
  };
  CHECK(shaped({5}) == error_kind::corrupt);
  CHECK(shaped({3}) == error_kind::corrupt);
  CHECK(shaped({-2, -2}) == error_kind::corrupt);
  CHECK(shaped({std::int64_t{1} << 62, 4}) == error_kind::corrupt);
  CHECK(shaped({1, 1, 1, 1, 1, 1, 1, 1, 4}) == error_kind::corrupt);
}

TEST_CASE("weights: any bytes are decoded or refused") {
  REQUIRE(rc::check([](const std::string& data) {
    if (const auto decoded = decode_weights(data))
      RC_ASSERT(encode_weights(*decoded) == data);
  }));
}
