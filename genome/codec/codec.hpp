#pragma once

#include "genome/genes/genome.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Bytes in msgpack, the format of everything that Clade stores or publishes.
using bytes = std::string;

/// Writes msgpack values one after another. Sizes are below 2^32, as msgpack wants them.
class encoder {
public:
  encoder& array(std::size_t size);
  encoder& map(std::size_t size);
  encoder& integer(std::int64_t v);
  encoder& natural(std::uint64_t v);
  encoder& real(double v); ///< Always as a double, so that 1.0 stays a real.
  encoder& boolean(bool v);
  encoder& text(std::string_view v);
  encoder& binary(std::span<const char> v);
  /// Writes what comes before so many bytes of a binary; the caller writes them.
  encoder& binary_header(std::size_t size);
  encoder& nil();
  encoder& encode(const value& v);
  encoder& encode(const std::vector<setting>& v);
  encoder& encode(const genome& v); ///< `check_structure` must hold.

  /// Takes what was written.
  [[nodiscard]] bytes take() { return std::move(buffer_); }

private:
  bytes buffer_;
};

/// Reads msgpack values one after another. Total: any bytes give values or an error, in
/// memory and time bounded by their length; the first error sticks, what is read after it
/// is zero or empty, and `finish` reports it. A decoder that expects a list asks `array`
/// for its size, which is never larger than what the remaining bytes could hold.
class decoder {
public:
  explicit decoder(std::span<const char> data) : data_(data) {}

  std::size_t array();
  /// Reads an array as `array` does, and gives an error unless it has that size.
  void array(std::size_t size);
  std::size_t map();
  std::int64_t integer();
  std::uint64_t natural();
  double real(); ///< Takes an integer too.
  bool boolean();
  std::string text();
  bytes binary();
  bool is_nil(); ///< Consumes it if it is.
  clade::value value();
  std::vector<setting> settings();
  clade::genome genome(); ///< Checked: `check_structure` holds.

  /// Notes an error of the caller's own, "unknown record kind 9".
  void fail(std::string message);
  [[nodiscard]] bool failed() const { return failed_; }

  /// The error, if there was one, or bytes are left over.
  [[nodiscard]] expected<void> finish() const;

private:
  struct number {
    enum class kind { none, negative, natural, real } what = kind::none;
    std::uint64_t bits = 0; ///< Two's complement, or the double's.
  };

  [[nodiscard]] std::uint8_t peek() const;
  std::uint64_t big_endian(std::size_t width);
  number scalar();
  std::string_view chunk(std::size_t size);
  std::string_view string();
  std::size_t list(std::uint8_t fixed, std::uint8_t wide, std::size_t bytes_each,
                   const char* what);
  void expected_here(const char* what);
  node_gene node();
  edge_gene edge(const std::vector<node_gene>& nodes);

  std::span<const char> data_;
  std::size_t offset_ = 0;
  bool failed_ = false;
  std::string message_;
};

/// A list of what `read` reads, until it ends or an error sticks.
template<class Read>
auto decode_list(decoder& d, Read read) {
  std::vector<decltype(read(d))> list;
  const auto size = d.array();
  for (std::size_t i = 0; i < size && !d.failed(); ++i)
    list.push_back(read(d));
  return list;
}

/// At most this many bytes are taken for a genome; more is an error.
inline constexpr std::size_t max_genome_bytes = 1 << 20;

[[nodiscard]] bytes encode(const genome& g);
[[nodiscard]] expected<genome> decode_genome(std::span<const char> data);

} // namespace clade
