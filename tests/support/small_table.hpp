#pragma once

#include "engine/config/experiment/table_file.hpp"

#include <string>
#include <vector>

namespace clade {

/// Two choices, two fidelities of which the greater has two seeds, a test column and a
/// cost. A test changes only what it is about.
inline const std::string small_description = R"(files = ["x.csv"]
fidelities = [10, 40]
seeds = [0, 1]
cost = "time"
[key]
column = "config"
digits = ["op", "width"]
[hyperparameters]
op = ["conv", "pool"]
width = [8, 16, 32]
[objective]
maximize = "validation.accuracy"
[metrics]
validation.accuracy = ["acc10", "acc40_s{seed}"]
test.accuracy = "test"
)";

inline const std::string small_rows = "config,acc10,acc40_s0,acc40_s1,test,time\n"
                                      "00,10,20,22,21,4\n"
                                      "01,11,30,,31,8\n"
                                      "02,12,nan,33,32,8\n"
                                      "10,13,40,42,41,8\n"
                                      "11,14,,,51,8\n";

/// `text` with the first `from` in it replaced; aborts where there is none.
inline std::string with(std::string text, const std::string& from,
                        const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

inline expected<benchmark_table> read_table(const std::string& description,
                                            const std::vector<std::string>& files) {
  auto d = parse_table_description(description, "t.toml");
  if (!d)
    return tl::unexpected(d.error());
  std::vector<table_source> sources;
  for (const auto& bytes : files)
    sources.push_back(
        {std::string(1, static_cast<char>('x' + sources.size())) + ".csv", bytes});
  return benchmark_table::read(std::move(*d), sources);
}

inline std::string error_of(const std::string& description,
                            const std::vector<std::string>& files) {
  const auto t = read_table(description, files);
  return t ? "no error" : t.error().message;
}

/// A genome of a space without layers.
inline genome with_settings(std::vector<setting> settings) {
  genome g;
  g.nodes = {{.id = input_innovation, .op = "input", .settings = {}},
             {.id = output_innovation, .op = "output", .settings = {}}};
  g.edges = {{.id = innovation{2}, .from = input_innovation, .to = output_innovation}};
  for (auto& s : settings)
    assign(g.hyperparameters, s.name, std::move(s.value));
  return g;
}

inline genome small_genome(const std::string& op, std::int64_t width) {
  return with_settings({{"op", op}, {"width", width}});
}

} // namespace clade
