#include "engine/config/experiment/fitness_source.hpp"

#include "engine/config/experiment/table_file.hpp"

namespace clade {

expected<fitness_source> load_fitness_source(const experiment& e) {
  if (e.traits().trains)
    return load_data(e.data, e.seed).map([](data_set&& data) {
      const auto checksum = data.checksum;
      return fitness_source{.data = std::move(data), .checksum = checksum};
    });
  if (e.traits().described)
    return load_table(e).map([](std::shared_ptr<const benchmark_table>&& table) {
      const auto checksum = table->checksum();
      return fitness_source{.table = std::move(table), .checksum = checksum};
    });
  return {};
}

std::filesystem::path fitness_file(const experiment& e) {
  return e.traits().trains ? e.data.file : e.evaluator->file();
}

expected<std::unique_ptr<fitness_function>> make_fitness(const experiment& e,
                                                         program_host host) {
  return load_fitness_source(e).and_then([&](fitness_source&& source) {
    return e.evaluator->make({.space = e.space,
                              .problem = e.synthetic_problem,
                              .goal = e.objective,
                              .table = std::move(source.table),
                              .host = std::move(host)});
  });
}

} // namespace clade
