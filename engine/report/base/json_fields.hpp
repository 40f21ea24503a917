#pragma once

#include "engine/report/base/json_parts.hpp"
#include "genome/codec/field_list.hpp"

#include <concepts>
#include <functional>

// JSON is made of the list of a struct's fields (genome/codec/field_list.hpp): an object
// with a key for each. An enumeration is its text, a duration its count, an empty optional
// null, and metrics and settings are objects.

namespace clade {

template<class T>
ordered_json json_of(const T& v);

/// Returns an array of what `to` makes of each.
template<class All, class To>
ordered_json json_of(const All& all, const To& to) {
  auto made = ordered_json::array();
  for (const auto& one : all)
    made.push_back(std::invoke(to, one));
  return made;
}

inline ordered_json json_of(const std::shared_ptr<const test_details>& details) {
  return details_json(details);
}

struct json_field_writer {
  ordered_json& out;

  void operator()(const char* name, const auto& v) { out.emplace(name, json_of(v)); }
  void operator()(const char* name, const auto& v, null_unless is) {
    out.emplace(name, is.known ? json_of(v) : ordered_json());
  }
  void operator()(const char*, const auto& v, as_key key) {
    out.emplace(key.name, json_of(v));
  }
  void operator()(const char*, const auto&, not_in_json) {}
  template<class T>
  void operator()(const char* name, const T& v, as_text) {
    if constexpr (requires { *v; })
      out.emplace(name, v ? ordered_json(std::to_string(*v)) : ordered_json());
    else
      out.emplace(name, std::to_string(v));
  }
  void operator()(const char*, const auto& v, spread) { fields(*this, v); }
  void aside(const char* name, const auto& v, const auto&... said) {
    (*this)(name, v, said...);
  }
  void shown(const char* name, const auto& v, const auto&... said) {
    (*this)(name, v, said...);
  }
  void last(const char* name, const auto& v, const auto&... said) {
    (*this)(name, v, said...);
  }
};

/// Puts the fields of a struct into an object, behind those that it has.
template<class T>
ordered_json& put_fields(ordered_json& object, const T& v) {
  json_field_writer writer{object};
  fields(writer, v);
  return object;
}

template<class T>
ordered_json json_of(const T& v) {
  if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return v;
  } else if constexpr (std::is_enum_v<T>) {
    return to_text(v);
  } else if constexpr (std::same_as<T, std::vector<metric>>) {
    return metrics_json(v);
  } else if constexpr (std::same_as<T, std::vector<setting>>) {
    return settings_json(v);
  } else if constexpr (requires { v.count(); }) {
    return v.count();
  } else if constexpr (requires { *v; }) {
    return v ? json_of(*v) : ordered_json();
  } else if constexpr (requires { v.begin(); }) {
    return json_of(v, [](const auto& one) { return json_of(one); });
  } else {
    auto object = ordered_json::object();
    put_fields(object, v);
    return object;
  }
}

} // namespace clade
