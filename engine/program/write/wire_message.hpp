#pragma once

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// A message in the wire format of protocol buffers, built in one expression.
class wire_message {
public:
  wire_message& number(unsigned field, std::int64_t v) {
    protozero::pbf_writer(bytes_).add_int64(field, v);
    return *this;
  }
  wire_message& real(unsigned field, float v) {
    protozero::pbf_writer(bytes_).add_float(field, v);
    return *this;
  }
  /// Text or bytes.
  wire_message& text(unsigned field, std::string_view v) {
    protozero::pbf_writer(bytes_).add_bytes(field, v.data(), v.size());
    return *this;
  }
  wire_message& message(unsigned field, const wire_message& m) {
    protozero::pbf_writer(bytes_).add_message(field, m.bytes_);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
};

} // namespace clade
