#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace clade {

/// A message in the wire format of protocol buffers, written field by field: all that
/// ONNX takes of it. (A library for it would lie in every process beside LibTorch's own
/// copy of the same one, of another version.)
class wire_message {
public:
  wire_message& number(unsigned field, std::int64_t v) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(v));
    return *this;
  }
  wire_message& real(unsigned field, float v) {
    key(field, 5);
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v); // Both are little-endian.
    bytes_.append(raw, sizeof v);
    return *this;
  }
  /// Text or bytes.
  wire_message& text(unsigned field, std::string_view v) {
    key(field, 2);
    varint(v.size());
    bytes_.append(v);
    return *this;
  }
  wire_message& message(unsigned field, const wire_message& m) {
    return text(field, m.bytes_);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
  void key(unsigned field, unsigned type) { varint(field << 3 | type); }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7)
      bytes_ += static_cast<char>(v | 0x80);
    bytes_ += static_cast<char>(v);
  }

  std::string bytes_;
};

} // namespace clade
