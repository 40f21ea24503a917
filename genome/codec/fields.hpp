#pragma once

#include "genome/codec/codec.hpp"
#include "genome/codec/field_list.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <optional>
#include <utility>

// Msgpack is written and read from the list of a struct's fields (field_list.hpp).
//
// The struct is an array of these values: numbers, texts, enumerations, durations,
// genomes, settings, structs with a list, and containers, optionals and shared pointers of
// such. A map is an array of pairs and a group an array of its own. A field that stands
// aside is stored and decides nothing. `last`, a shared pointer or an optional, is stored
// where it has a value, or where a later `last` has one; none of the others comes behind.
//
// Reading is as total as `decoder`. For an enumeration `is_known` says whether a value is
// one of it. `check_read`, if a struct has one, tells the decoder what is wrong with it.

namespace clade {

struct field_counter {
  bool decisive = false; ///< Fields that stand aside do not count.
  std::size_t count = 0;
  std::size_t lasts = 0;   ///< How many fields are `last`.
  std::size_t skipped = 0; ///< The empty ones since the last that counts.

  void operator()(const char*, const auto&, const auto&...) { ++count; }
  void aside(const char*, const auto&, const auto&...) { count += decisive ? 0 : 1; }
  void shown(const auto&...) {}
  void group(const auto&...) { ++count; }
  void last(const char*, const auto& v, const auto&...) {
    ++lasts;
    if (v && !decisive)
      count += 1 + std::exchange(skipped, 0);
    else
      ++skipped;
  }
};

template<class T>
field_counter count_fields(const T& v, bool decisive = false) {
  field_counter counter{.decisive = decisive};
  fields(counter, v);
  return counter;
}

template<class T>
void write_field(encoder& out, const T& v, bool decisive = false);

/// Writes the fields one after another, without the array that they make.
struct field_writer {
  encoder& out;
  bool decisive = false;   ///< Fields that stand aside are left out.
  bool named = false;      ///< Each comes after its name, as in a map.
  std::size_t skipped = 0; ///< The empty `last` since one that is written.

  void operator()(const char* name, const auto& v, const auto&...) {
    if (named)
      out.text(name);
    write_field(out, v, decisive);
  }
  void operator()(const char*, const bytes& v, as_binary) { out.binary(v); }
  void aside(const char*, const auto& v, const auto&...) {
    if (!decisive)
      write_field(out, v);
  }
  void shown(const auto&...) {}
  void group(const auto&... parts) {
    out.array(sizeof...(parts));
    (write_field(out, parts, decisive), ...);
  }
  void last(const char*, const auto& v, const auto&...) {
    if (!v || decisive) {
      ++skipped;
      return;
    }
    for (; skipped > 0; --skipped)
      out.nil();
    write_field(out, *v);
  }
};

template<class T>
void write_field(encoder& out, const T& v, bool decisive) {
  if constexpr (std::same_as<T, bool>) {
    out.boolean(v);
  } else if constexpr (std::is_enum_v<T> || std::unsigned_integral<T>) {
    out.natural(static_cast<std::uint64_t>(v));
  } else if constexpr (std::signed_integral<T>) {
    out.integer(v);
  } else if constexpr (requires { v.count(); }) {
    out.integer(v.count());
  } else if constexpr (std::same_as<T, double>) {
    out.real(v);
  } else if constexpr (std::same_as<T, std::string>) {
    out.text(v);
  } else if constexpr (std::same_as<T, genome> || std::same_as<T, std::vector<setting>>) {
    out.encode(v);
  } else if constexpr (requires { *v; }) {
    if (v)
      write_field(out, *v, decisive);
    else
      out.nil();
  } else if constexpr (requires { typename T::mapped_type; }) {
    out.array(v.size());
    for (const auto& [key, value] : v) {
      write_field(out.array(2), key, decisive);
      write_field(out, value, decisive);
    }
  } else if constexpr (requires { v.size(); }) {
    out.array(v.size());
    for (const auto& one : v)
      write_field(out, one, decisive);
  } else {
    out.array(count_fields(v, decisive).count);
    field_writer writer{out, decisive};
    fields(writer, v);
  }
}

template<class T>
void read_field(decoder& in, const char* name, T& v);

template<class T>
[[nodiscard]] T read_as(decoder& in, const char* name = "") {
  T v{};
  read_field(in, name, v);
  return v;
}

struct field_reader {
  decoder& in;
  std::size_t lasts = 0; ///< How many of those that are `last` are there.
  bool named = false;

  void operator()(const char* name, auto& v, const auto&...) {
    if (named && in.text() != name)
      in.fail(fmt::format("something else where \"{}\" is meant", name));
    read_field(in, name, v);
  }
  void operator()(const char*, bytes& v, as_binary) { v = in.binary(); }
  void aside(const char* name, auto& v, const auto&...) { read_field(in, name, v); }
  void shown(const auto&...) {}
  void group(auto&... parts) {
    in.array(sizeof...(parts));
    (read_field(in, "", parts), ...);
  }
  /// A shared pointer or an optional.
  template<class T>
  void last(const char* name, T& v, const auto&...) {
    if (lasts > 0 && lasts-- > 0)
      read_field(in, name, v);
  }
  /// Behind the last that is there would be nothing, were it empty.
  template<class T>
  void last(const char* name, std::optional<T>& v, const auto&...) {
    if (lasts == 1)
      v = read_as<T>(in, name);
    else if (lasts > 1)
      read_field(in, name, v);
    lasts -= lasts > 0 ? 1 : 0;
  }
};

/// Reads the fields of an array of that size.
template<class T>
void read_fields(decoder& in, std::size_t size, T& v) {
  const auto counted = count_fields(v);
  if (size < counted.count || size > counted.count + counted.lasts)
    return in.fail(fmt::format("{} fields instead of {}", size, counted.count));
  field_reader reader{in, size - counted.count};
  fields(reader, v);
  if constexpr (requires { check_read(in, v); })
    if (!in.failed())
      check_read(in, v);
}

template<class T>
void read_field(decoder& in, const char* name, T& v) {
  const auto refuse = [&](std::uint64_t number, const char* why) {
    in.fail(fmt::format("{}{} {}", why, name, number));
  };
  if constexpr (std::same_as<T, bool>) {
    v = in.boolean();
  } else if constexpr (std::is_enum_v<T>) {
    const auto number = in.natural();
    v = static_cast<T>(number);
    if (static_cast<std::uint64_t>(v) != number || !is_known(v)) {
      refuse(number, "unknown ");
      v = T{};
    }
  } else if constexpr (std::unsigned_integral<T>) {
    const auto number = in.natural();
    v = static_cast<T>(number);
    if (v != number)
      in.fail(fmt::format("{} {} is out of range", name, number));
  } else if constexpr (std::signed_integral<T>) {
    v = in.integer();
  } else if constexpr (requires { v.count(); }) {
    v = T(in.integer());
  } else if constexpr (std::same_as<T, double>) {
    v = in.real();
  } else if constexpr (std::same_as<T, std::string>) {
    v = in.text();
  } else if constexpr (std::same_as<T, genome>) {
    v = in.genome();
  } else if constexpr (std::same_as<T, std::vector<setting>>) {
    v = in.settings();
  } else if constexpr (requires { typename T::element_type; }) {
    using element = std::remove_const_t<typename T::element_type>;
    if (!in.is_nil())
      v = std::make_shared<const element>(read_as<element>(in, name));
  } else if constexpr (requires { v.has_value(); }) {
    if (!in.is_nil())
      read_field(in, name, v.emplace());
  } else if constexpr (requires { typename T::mapped_type; }) {
    const auto size = in.array();
    for (std::size_t i = 0; i < size && !in.failed(); ++i) {
      in.array(2);
      const auto key = read_as<typename T::key_type>(in, name);
      read_field(in, name, v[key]);
    }
  } else if constexpr (requires { v.size(); }) {
    auto list = decode_list(
        in, [&](decoder& d) { return read_as<typename T::value_type>(d, name); });
    v = T(std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
  } else {
    read_fields(in, in.array(), v);
  }
}

template<class T>
[[nodiscard]] bytes encoded(const T& v) {
  encoder out;
  write_field(out, v);
  return out.take();
}

/// Reads what `encoded` returns, and nothing else.
template<class T>
[[nodiscard]] expected<T> decoded(std::span<const char> data) {
  decoder in(data);
  auto v = read_as<T>(in);
  return in.finish().map([&] { return std::move(v); });
}

/// Writes a struct as a map from the names of its fields, for programs that are no Clade.
template<class T>
void write_map(encoder& out, const T& v) {
  out.map(count_fields(v).count);
  field_writer writer{.out = out, .named = true};
  fields(writer, v);
}

/// Reads what `write_map` wrote, in the same order.
template<class T>
[[nodiscard]] T read_map(decoder& in) {
  T v;
  if (in.map() != count_fields(v).count)
    in.fail("a map of another size");
  field_reader reader{.in = in, .named = true};
  fields(reader, v);
  return v;
}

} // namespace clade
