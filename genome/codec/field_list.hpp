#pragma once

#include <concepts>
#include <type_traits>

// The words in which a struct lists its fields once, for every form that it has:
//
//   void fields(auto& v, like<test> auto& t) {
//     v("subject", t.subject);
//     v.group(t.train, t.validation);
//     v.aside("seconds", t.seconds);
//     v("slot", t.slot, null_unless(!t.slot.empty()));
//     v.shown("minutes", t.seconds / 60);
//     v.last("details", t.details);
//   }
//
// genome/codec/fields.hpp makes msgpack of a list, and engine/report/base/json_fields.hpp
// JSON. A field that is only `shown` is in JSON alone. Words behind a value say more of the
// field to the form that they concern; the other form passes over them.

namespace clade {

/// A struct that is read, or a constant one that is written.
template<class S, class T>
concept like = std::same_as<std::remove_const_t<S>, T>;

/// The field is null in JSON unless its value is known.
struct null_unless {
  explicit constexpr null_unless(bool is_known) : known(is_known) {}
  bool known;
};

/// It is known unless it is empty or 0.
template<class T>
[[nodiscard]] constexpr null_unless if_known(const T& v) {
  return null_unless(v != T());
}

/// The field has another name in JSON.
struct as_key {
  explicit constexpr as_key(const char* its_name) : name(its_name) {}
  const char* name;
};

/// JSON leaves the field out.
struct not_in_json {};

/// JSON has the number as text: readers know whole numbers up to 2^53 only.
struct as_text {};

/// Msgpack has the text as a binary.
struct as_binary {};

/// The fields of the value stand in JSON among those around it.
struct spread {};

} // namespace clade
