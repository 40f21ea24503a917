#include "engine/data/formats/text_array.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::string_literals;

namespace {

std::vector<std::string> texts(const std::string& npy) {
  const auto read = parse_npy_texts(npy);
  return read ? read->texts : std::vector<std::string>{read.error().message};
}

// Each in 32 bits, this machine's order being that of the file.
std::string wide(const std::u32string& characters) {
  return {reinterpret_cast<const char*>(characters.data()), 4 * characters.size()};
}

} // namespace

TEST_CASE("text array: texts of a fixed length are read, without the zeros behind them") {
  CHECK(texts(npy("<U3", "(3,)", wide(U"cat\0\0\0ä\U0001f600\0"s)))
        == std::vector<std::string>{"cat", "", "ä\U0001f600"});
  CHECK(texts(npy(">U1", "(2,)", "\0\0\0a\0\0\0b"s))
        == std::vector<std::string>{"a", "b"});
  CHECK(texts(npy("|S2", "(3,)", "a\0bcd\xe4"s))
        == std::vector<std::string>{"a", "bc", "d\xc3\xa4"});
  CHECK(holds_texts(npy("<U3", "(0,)", "")));
  CHECK(!holds_texts(npy("<f4", "(1,)", "1234")));
  CHECK(!holds_texts(npy("|O", "(1,)", "\x80\x04")));
}

TEST_CASE("text array: what is no such array is an error that names its byte") {
  CHECK(texts(npy("<U3", "(3,)", "1234")).front().find("cut off") != std::string::npos);
  CHECK(texts(npy("<U1", "(1,)", "\xff\xff\xff\xff"))
            .front()
            .ends_with("the text holds what is no character"));
  CHECK(texts(npy("<U99999999999", "(1,)", "")).front().find("are no texts")
        != std::string::npos);
}
