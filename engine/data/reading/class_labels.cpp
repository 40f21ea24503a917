#include "engine/data/reading/class_labels.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

// New label by old one, and `data.classes`.
std::vector<std::int64_t> sort_classes(const examples& e, data_set& data) {
  std::vector<std::uint32_t> used(e.classes.size(), 0);
  for (const std::uint32_t label : e.labels)
    used[label] = 1;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] != 0)
      order.push_back(i);
  const bool numbers = std::all_of(order.begin(), order.end(), [&](std::size_t i) {
    return parse_number<std::int64_t>(e.classes[i]).has_value();
  });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (numbers
        && parse_number<std::int64_t>(e.classes[a])
               != parse_number<std::int64_t>(e.classes[b]))
      return *parse_number<std::int64_t>(e.classes[a])
             < *parse_number<std::int64_t>(e.classes[b]);
    return e.classes[a] < e.classes[b];
  });
  std::vector<std::int64_t> label(e.classes.size(), -1);
  for (const std::size_t i : order) {
    label[i] = static_cast<std::int64_t>(data.classes.size());
    const auto n = numbers ? parse_number<std::int64_t>(e.classes[i]) : std::nullopt;
    const bool named =
        n && *n >= 0 && static_cast<std::size_t>(*n) < e.class_names.size();
    data.classes.push_back(named ? e.class_names[static_cast<std::size_t>(*n)]
                                 : e.classes[i]);
  }
  return label;
}

expected<void> check_classes(const examples& e, const data_set& data) {
  const std::string file = e.origin;
  if (data.classes.size() < 2)
    return fail(
        error_kind::invalid_input,
        fmt::format("{}: every example is of class \"{}\"; two classes are the least",
                    file, data.classes.front()));
  std::vector<std::size_t> members(data.classes.size(), 0);
  std::vector<std::size_t> first(data.classes.size(), 0);
  for (std::size_t i = 0; i < e.count; ++i)
    if (members[static_cast<std::size_t>(data.labels[i])]++ == 0)
      first[static_cast<std::size_t>(data.labels[i])] = i;
  const auto alone = std::ranges::find(members, 1U);
  if (alone == members.end())
    return {};
  const auto c = static_cast<std::size_t>(alone - members.begin());
  const auto others = std::ranges::count(members, 1U) - 1;
  return fail(
      error_kind::invalid_input,
      fmt::format("{}: class \"{}\" has this one member; two are the least{}{}",
                  e.place(first[c]), data.classes[c],
                  others == 0
                      ? ""
                      : fmt::format(" (and {}{}", others,
                                    others == 1 ? " other class has one)"
                                                : " other classes have one each)"),
                  parse_number<double>(data.classes[c])
                          && (e.by_line || !parse_number<std::int64_t>(data.classes[c]))
                      ? " (to predict numbers, say task = \"regression\")"
                      : ""));
}

} // namespace

expected<void> set_labels(const examples& e, const examples* test, data_set& data) {
  const auto label = sort_classes(e, data);
  for (const std::uint32_t old : e.labels)
    data.labels.push_back(label[old]);
  if (auto fine = check_classes(e, data); !fine || test == nullptr)
    return fine;
  for (std::size_t i = 0; i < test->count; ++i) {
    const std::string& name = test->classes[test->labels[i]];
    const auto known = std::find(e.classes.begin(), e.classes.end(), name);
    if (known == e.classes.end()
        || label[static_cast<std::size_t>(known - e.classes.begin())] < 0)
      return fail(error_kind::invalid_input,
                  fmt::format("{}: class \"{}\" is not one of {}", test->place(i), name,
                              e.origin));
    data.labels.push_back(label[static_cast<std::size_t>(known - e.classes.begin())]);
  }
  return {};
}

} // namespace clade
