#include "engine/data/source/open_source.hpp"

#include "engine/data/source/mapped_source.hpp"

namespace clade {
namespace {

source_target target_of(data_set& data) {
  if (data.task.has_classes())
    return {.classes = std::move(data.classes)};
  const std::size_t outputs =
      static_cast<std::size_t>(data.task.outputs(data.classes.size()));
  return {.kind = data.task.has_labels() ? target_kind::several_labels
                  : data.classes.empty() ? target_kind::one_number
                                         : target_kind::several_numbers,
          .shape = {{static_cast<std::int64_t>(outputs)}},
          .type = stored_type::float32,
          .classes = std::move(data.classes),
          .scales = data.target_scales};
}

} // namespace

std::shared_ptr<const example_source> source_of(data_set data) {
  const auto form = data.shape.layout();
  const char* name = form == layout::image      ? "image"
                     : form == layout::sequence ? "series"
                                                : "table";
  source_tables tables{.inputs = {data.features},
                       .targets = data.task.has_classes()
                                      ? stored_numbers(std::move(data.labels))
                                      : stored_numbers(std::move(data.targets))};
  source_description d{.task = data.task,
                       .count = data.examples,
                       .inputs = {{.name = name,
                                   .shape = std::move(data.shape),
                                   .type = data.features.type(),
                                   .divisor = data.features.divisor()}},
                       .target = target_of(data),
                       .train = std::move(data.train),
                       .validation = std::move(data.validation),
                       .test = std::move(data.test),
                       .weights = std::move(data.weights),
                       .parts_by_chance = data.parts_by_chance,
                       .test_places = std::move(data.test_places),
                       .by_line = data.by_line,
                       .test_names = std::move(data.test_names),
                       .steps = std::move(data.steps),
                       .numbers = std::move(data.numbers),
                       .columns = std::move(data.columns)};
  if (data.features.mapped())
    return std::make_shared<const mapped_source>(std::move(d), std::move(tables));
  return std::make_shared<const table_source>(std::move(d), std::move(tables));
}

expected<std::shared_ptr<const example_source>>
open_source(const data_params& params, std::uint64_t seed, const data_cache& cache) {
  return load_data(params, seed, cache).map([](data_set&& data) {
    return source_of(std::move(data));
  });
}

} // namespace clade
