#include "engine/data/tables/label_lists.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace clade {
namespace {

constexpr std::string_view marks = "|;,";

std::vector<std::vector<std::string_view>>
labels_of_all(std::span<const std::string> lists) {
  const char separator = separator_of(lists);
  std::vector<std::vector<std::string_view>> out;
  for (const std::string& list : lists)
    out.push_back(labels_of(list, separator));
  return out;
}

std::size_t place_of(std::span<const std::string> labels, std::string_view label) {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

} // namespace

char separator_of(std::span<const std::string> lists) {
  for (const char mark : marks)
    if (std::ranges::any_of(lists, [mark](const std::string& list) {
          return list.find(mark) != std::string::npos;
        }))
      return mark;
  return ' ';
}

std::vector<std::string_view> labels_of(std::string_view list, char separator) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const auto end = std::min(list.find(separator), list.size());
    if (const auto label = trimmed(list.substr(0, end)); !label.empty())
      out.push_back(label);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

void take_label_lists(examples& e) {
  const auto lists = labels_of_all(e.classes);
  std::set<std::string_view> all;
  for (const std::uint32_t list : e.labels)
    all.insert(lists[list].begin(), lists[list].end());
  const std::vector<std::string> labels(all.begin(), all.end());
  std::vector<std::vector<std::size_t>> places(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (const auto label : lists[i])
      if (all.contains(label))
        places[i].push_back(place_of(labels, label));
  e.targets.assign(e.labels.size() * labels.size(), 0);
  for (std::size_t i = 0; i < e.labels.size(); ++i)
    for (const std::size_t label : places[e.labels[i]])
      e.targets[i * labels.size() + label] = 1;
  e.classes = labels;
  e.labels.clear();
}

std::vector<double> known_labels(std::string_view list,
                                 std::span<const std::string> labels,
                                 std::string& unknown) {
  std::vector<double> out(labels.size(), 0);
  char separator = separator_of(std::vector<std::string>{std::string(list)});
  // A single label may have blanks in it.
  if (separator == ' ' && place_of(labels, trimmed(list)) < labels.size())
    separator = marks.front();
  for (const auto label : labels_of(list, separator)) {
    const auto place = place_of(labels, label);
    if (place < labels.size())
      out[place] = 1;
    else if (unknown.empty())
      unknown = label;
  }
  return out;
}

expected<void> align_labels(examples& e, std::span<const std::string> labels) {
  std::vector<double> aligned(e.count * labels.size(), 0);
  const std::size_t own = e.classes.size();
  for (std::size_t label = 0; label < own; ++label) {
    const auto place = place_of(labels, e.classes[label]);
    for (std::size_t i = 0; i < e.count; ++i) {
      if (e.targets[i * own + label] == 0)
        continue;
      if (place == labels.size())
        return fail_in(e.place(i),
                       {error_kind::invalid_input,
                        fmt::format("the training data does not have the label {}",
                                    in_quotes(e.classes[label]))});
      aligned[i * labels.size() + place] = 1;
    }
  }
  e.targets = std::move(aligned);
  e.classes.assign(labels.begin(), labels.end());
  return {};
}

} // namespace clade
