#include "engine/export/source/safetensors.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

exported_model a_model() {
  exported_model m;
  m.run = "toy";
  m.id = 7;
  m.how.width = 2;
  m.how.classes = {"no", "yes"};
  m.how.mean = {1, 2};
  m.how.deviation = {4, 8};
  m.weights = {{"output.weight", {1, 2}, {0.5F, -1}}, {"output.bias", {1}, {0}}};
  return m;
}

} // namespace

TEST_CASE("safetensors: the header says where each tensor lies, doubles first") {
  const auto bytes = encode_safetensors(a_model());
  const std::string header =
      R"({"__metadata__":{"format":"pt","model":"#7 of toy","classes":"[\"no\",\"yes\"]"},)"
      R"("input_mean":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
      R"("input_deviation":{"dtype":"F64","shape":[2],"data_offsets":[16,32]},)"
      R"("input_blank":{"dtype":"F64","shape":[2],"data_offsets":[32,48]},)"
      R"("output.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[48,56]},)"
      R"("output.bias":{"dtype":"F32","shape":[1],"data_offsets":[56,60]}})";
  const auto padded = (header.size() + 7) / 8 * 8;
  REQUIRE(bytes.size() == 8 + padded + 60);
  CHECK(static_cast<unsigned char>(bytes[0]) == padded % 256);
  CHECK(static_cast<unsigned char>(bytes[1]) == padded / 256);
  CHECK(bytes.substr(2, 6) == std::string(6, '\0'));
  CHECK(bytes.substr(8, header.size()) == header);
  CHECK(bytes.substr(8 + header.size(), padded - header.size())
        == std::string(padded - header.size(), ' '));
  // 1.0 and 2.0 as doubles, 0.5 and -1 as floats, little-endian.
  const auto data = bytes.substr(8 + padded);
  CHECK(data.substr(0, 16) == std::string("\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40", 16));
  CHECK(data.substr(32, 16) == data.substr(0, 16)); // The means fill blanks.
  CHECK(data.substr(48, 12) == std::string("\0\0\0\x3F\0\0\x80\xBF\0\0\0\0", 12));
}

TEST_CASE("safetensors: a model gives the same bytes again") {
  CHECK(encode_safetensors(a_model()) == encode_safetensors(a_model()));
}
