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

void tell_target(const data_set& data, data_story& told) {
  double sum = 0;
  told.lowest = std::numeric_limits<double>::infinity();
  told.highest = -told.lowest;
  for_each_example(data, [&](std::uint32_t i, std::size_t part_sizes::*) {
    const auto v = data.targets[i] * data.target_deviation + data.target_mean;
    told.lowest = std::min(told.lowest, v);
    told.highest = std::max(told.highest, v);
    sum += v;
  });
  told.mean = sum / static_cast<double>(told.parts.all());
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
  else if (told.parts.all() > 0)
    tell_target(data, told);
  return told;
}

std::string data_words(const data_story& d) {
  auto text = fmt::format("{}: {} examples of shape {}", d.file,
                          with_commas(d.parts.all()), to_text(d.shape));
  if (d.task.has_classes())
    text += fmt::format(" in {} classes", with_commas(d.classes.size()));
  return fmt::format("{}; {} to train on, {} for validation, {} for the test.", text,
                     with_commas(d.parts.train), with_commas(d.parts.validation),
                     with_commas(d.parts.test));
}

std::vector<std::vector<std::string>> data_rows(const data_story& d, std::size_t most) {
  if (!d.task.has_classes())
    return {{"target", "lowest", "mean", "highest"},
            {"", metric_text(d.lowest), metric_text(d.mean), metric_text(d.highest)}};
  std::vector<std::vector<std::string>> rows{
      {"class", "examples", "train", "validation", "test"}};
  for (std::size_t i = 0; i < std::min(d.classes.size(), most); ++i) {
    const auto& c = d.classes[i];
    rows.push_back({c.name, with_commas(c.parts.all()), with_commas(c.parts.train),
                    with_commas(c.parts.validation), with_commas(c.parts.test)});
  }
  return rows;
}

} // namespace clade
