#include "tools/queue/client/answer_shape.hpp"

#include "engine/queue/queue_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace clade {

namespace {

using is = answer_kind;

/// Lists what a client may find of a submission in an entry.
struct key_lister {
  std::vector<answer_key>& keys;

  template<class T>
  void operator()(const char* name, const T&, const documented&) {
    keys.push_back({name, std::same_as<T, bool>                       ? is::truth
                          : std::signed_integral<T>                   ? is::integer
                          : std::same_as<T, std::vector<std::string>> ? is::texts
                          : std::same_as<T, std::vector<entry_id>>    ? is::naturals
                          : std::same_as<T, std::string> || std::is_enum_v<T>
                              ? is::text
                              : is::natural});
  }
  template<class T>
  void last(const char* name, const std::optional<T>&, const documented& said) {
    (*this)(name, T{}, said);
  }
};

std::vector<answer_key> keys_of_entry() {
  std::vector<answer_key> keys{
      {"id", is::natural, true}, {"state", is::text, true}, {"reason", is::text},
      {"stopping", is::truth},   {"on", is::texts},         {"submitted", is::integer},
      {"started", is::integer},  {"ended", is::integer},    {"starts", is::natural},
      {"losses", is::natural},   {"folder", is::text},      {"run", is::text}};
  key_lister lister{keys};
  const queue_submission any;
  fields(lister, any);
  return keys;
}

const std::vector<answer_key> entry_keys = keys_of_entry();
constexpr std::array slot_keys{answer_key{"slot", is::text}, answer_key{"user", is::text},
                               answer_key{"entry", is::natural}};
constexpr std::array user_keys{
    answer_key{"user", is::text}, answer_key{"slots", is::natural},
    answer_key{"quota", is::natural}, answer_key{"running", is::natural},
    answer_key{"waiting", is::natural}};
constexpr std::array node_keys{
    answer_key{"machine", is::text},     answer_key{"state", is::text},
    answer_key{"slots", is::natural},    answer_key{"version", is::text},
    answer_key{"heard_ms", is::integer}, answer_key{"clock_ahead_ms", is::integer}};
constexpr std::array process_keys{
    answer_key{"pid", is::integer, true}, answer_key{"parent", is::integer},
    answer_key{"cpu_seconds", is::number, true},
    answer_key{"resident_bytes", is::natural, true}, answer_key{"command", is::text}};
constexpr answer_shape slot_shape{slot_keys}, user_shape{user_keys},
    node_shape{node_keys}, process_shape{process_keys};

constexpr std::array entries_keys{
    answer_key{"change", is::natural, true},
    answer_key{"entries", is::objects, true, &entry_answer}};
constexpr std::array ids_keys{answer_key{"ids", is::naturals, true}};
constexpr std::array cancelled_keys{answer_key{"cancelled", is::natural, true}};
constexpr std::array machine_keys{answer_key{"slots", is::objects, true, &slot_shape},
                                  answer_key{"users", is::objects, true, &user_shape},
                                  answer_key{"machines", is::objects, false, &node_shape},
                                  answer_key{"version", is::text}};
constexpr std::array processes_keys{
    answer_key{"machine", is::text},
    answer_key{"processes", is::objects, true, &process_shape}};

bool is_list_of(const ordered_json& v, bool (ordered_json::*is)() const noexcept) {
  return v.is_array()
         && std::ranges::all_of(v, [&](const ordered_json& one) { return (one.*is)(); });
}

bool is_of_kind(const ordered_json& v, answer_kind kind) {
  switch (kind) {
  case is::natural:
    return v.is_number_unsigned();
  case is::integer:
    return v.is_number_integer();
  case is::number:
    return v.is_number();
  case is::text:
    return v.is_string();
  case is::truth:
    return v.is_boolean();
  case is::texts:
    return is_list_of(v, &ordered_json::is_string);
  case is::naturals:
    return is_list_of(v, &ordered_json::is_number_unsigned);
  case is::objects:
    return is_list_of(v, &ordered_json::is_object);
  }
  return false;
}

const char* in_words(answer_kind kind) {
  switch (kind) {
  case is::natural:
    return "a whole number from 0";
  case is::integer:
    return "a whole number";
  case is::number:
    return "a number";
  case is::text:
    return "a text";
  case is::truth:
    return "true or false";
  case is::texts:
    return "a list of texts";
  case is::naturals:
    return "a list of whole numbers";
  case is::objects:
    return "a list of objects";
  }
  return "";
}

} // namespace

const answer_shape entry_answer{entry_keys}, entries_answer{entries_keys},
    ids_answer{ids_keys}, machine_answer{machine_keys}, processes_answer{processes_keys},
    cancelled_answer{cancelled_keys}, any_answer{};

expected<void> check_shape(const ordered_json& answer, const answer_shape& shape) {
  if (!answer.is_object())
    return fail(error_kind::invalid_input, "it is no object");
  for (const auto& key : shape.keys) {
    const auto found = answer.find(key.name);
    const bool lacks = found == answer.end() || found->is_null();
    if (lacks && !key.needed)
      continue;
    if (lacks || !is_of_kind(*found, key.kind))
      return fail(error_kind::invalid_input,
                  fmt::format("\"{}\" is not {}", key.name, in_words(key.kind)));
    if (key.each == nullptr)
      continue;
    for (const auto& one : *found)
      if (auto ok = check_shape(one, *key.each); !ok)
        return ok;
  }
  return {};
}

} // namespace clade
