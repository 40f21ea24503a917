#include "engine/report/view/data_story.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace clade {

namespace {

/// Calls `take` with the index of each example and the count of the part that it is in.
template<class Take>
void for_each_example(const data_set& data, Take take) {
  for (const auto i : data.train)
    take(i, &part_sizes::train);
  for (const auto i : data.validation)
    take(i, &part_sizes::validation);
  for (const auto i : data.test)
    take(i, &part_sizes::test);
}

void tell_classes(const data_set& data, data_story& told) {
  for (const auto& name : data.classes)
    told.classes.push_back({.name = name, .parts = {}});
  for_each_example(data, [&](std::uint32_t i, std::size_t part_sizes::*part) {
    ++(told.classes[static_cast<std::size_t>(data.labels[i])].parts.*part);
  });
}

void tell_labels(const data_set& data, data_story& told) {
  const std::size_t labels = data.classes.size();
  for (const auto& name : data.classes)
    told.classes.push_back({.name = name, .parts = {}});
  for_each_example(data, [&](std::uint32_t i, std::size_t part_sizes::*part) {
    for (std::size_t label = 0; label < labels; ++label)
      told.classes[label].parts.*part += data.targets[i * labels + label] > 0 ? 1 : 0;
  });
}

void tell_target(const data_set& data, std::size_t target, data_story& told) {
  const std::size_t targets = std::max<std::size_t>(1, data.classes.size());
  const auto& scale = scale_of(data.target_scales, target);
  data_story::one_number out{.lowest = std::numeric_limits<double>::infinity(),
                             .highest = -std::numeric_limits<double>::infinity()};
  if (!data.classes.empty() && !data.task.has_quantiles())
    out.name = data.classes[target];
  double sum = 0;
  for_each_example(data, [&](std::uint32_t i, std::size_t part_sizes::*) {
    const auto v = data.targets[i * targets + target] * scale.deviation + scale.mean;
    out.lowest = std::min(out.lowest, v);
    out.highest = std::max(out.highest, v);
    sum += v;
  });
  out.mean = sum / static_cast<double>(told.parts.all());
  told.numbers.push_back(std::move(out));
}

} // namespace

data_story summarize(const data_set& data, std::string file) {
  data_story told{.file = std::move(file),
                  .task = data.task,
                  .shape = data.shape,
                  .parts = {.train = data.train.size(),
                            .validation = data.validation.size(),
                            .test = data.test.size()},
                  .classes = {}};
  if (data.task.has_classes())
    tell_classes(data, told);
  else if (data.task.has_labels())
    tell_labels(data, told);
  else if (told.parts.all() > 0) {
    const std::size_t targets =
        data.task.has_quantiles() ? 1 : std::max<std::size_t>(1, data.classes.size());
    for (std::size_t t = 0; t < targets; ++t)
      tell_target(data, t, told);
  }
  return told;
}

std::string data_words(const data_story& d) {
  auto text = fmt::format("{}: {} examples of shape {}", d.file,
                          with_commas(d.parts.all()), to_text(d.shape));
  if (d.task.has_classes())
    text += fmt::format(" in {} classes", with_commas(d.classes.size()));
  else if (d.task.has_labels())
    text += fmt::format(" with {} labels", with_commas(d.classes.size()));
  else if (d.numbers.size() > 1)
    text += fmt::format(" with {} targets", with_commas(d.numbers.size()));
  return fmt::format("{}; {} to train on, {} for validation, {} for the test.", text,
                     with_commas(d.parts.train), with_commas(d.parts.validation),
                     with_commas(d.parts.test));
}

std::vector<std::vector<std::string>> data_rows(const data_story& d, std::size_t most) {
  std::vector<std::vector<std::string>> rows;
  if (d.task.has_numbers()) {
    rows.push_back({"target", "lowest", "mean", "highest"});
    for (const auto& n : std::span(d.numbers).first(std::min(d.numbers.size(), most)))
      rows.push_back(
          {n.name, metric_text(n.lowest), metric_text(n.mean), metric_text(n.highest)});
    return rows;
  }
  rows.push_back({d.task.has_labels() ? "label" : "class", "examples", "train",
                  "validation", "test"});
  for (std::size_t i = 0; i < std::min(d.classes.size(), most); ++i) {
    const auto& c = d.classes[i];
    rows.push_back({c.name, with_commas(c.parts.all()), with_commas(c.parts.train),
                    with_commas(c.parts.validation), with_commas(c.parts.test)});
  }
  return rows;
}

} // namespace clade
