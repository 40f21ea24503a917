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
//     v.last("details", t.details);
//   }
//
// A list only names; genome/codec/fields.hpp makes msgpack of it and
// engine/report/base/json_fields.hpp JSON. What stands behind a value says more of the
// field to the form that it concerns; the others pass over it.

namespace clade {

/// A struct that is read, or a constant one that is written.
template<class S, class T>
concept like = std::same_as<std::remove_const_t<S>, T>;

/// The field is null in JSON unless its value is known.
struct null_unless {
  explicit constexpr null_unless(bool is_known) : known(is_known) {}
  bool known;
};

/// JSON leaves the field out.
struct not_in_json {};

} // namespace clade
