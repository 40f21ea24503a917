#pragma once

#include "genome/base/error.hpp"
#include "genome/codec/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

/// A fuzzer is a function that libFuzzer calls with inputs it makes up, for as long as
/// nothing breaks: each checks a law of one decoder. It is called with this function:
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace clade::fuzz {

/// A law that does not hold ends the process; libFuzzer then keeps the input.
inline void hold(bool law, const char* sentence) {
  if (law)
    return;
  std::fprintf(stderr, "the law is broken: %s\n", sentence);
  std::abort();
}

/// The same for what must not fail.
template<class T>
void hold(const expected<T>& done, const char* sentence) {
  if (!done)
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
  hold(done.has_value(), sentence);
}

/// An error says something.
template<class T>
int refused(const expected<T>& result) {
  hold(!result.error().message.empty(), "an error has a message");
  return 0;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes bytes that choose among variants off the front of an input; 0 when there are
/// none left.
class choices {
public:
  choices(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  std::uint8_t byte() {
    if (left_.empty())
      return 0;
    const auto first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  std::size_t below(std::size_t limit) { return byte() % limit; }
  bool flip() { return byte() % 2 != 0; }

  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] std::string_view rest() const {
    return text_of(left_.data(), left_.size());
  }

private:
  std::span<const std::uint8_t> left_;
};

} // namespace clade::fuzz
