// A description and, behind zero bytes, its files are refused or become a table in which
// every setting of its space is found or not, and each value is a number or none.
#include "engine/config/experiment/table_file.hpp"
#include "engine/evaluation/table/table_fitness.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/fuzz/law.hpp"

#include <cmath>

using namespace clade;
using namespace clade::fuzz;

namespace {

void look_up(const benchmark_table& t, const genome& g) {
  const auto row = t.find(g);
  if (!row)
    return hold(t.description().lookup == table_lookup::exact, "something is nearest");
  hold(*row < t.rows(), "a row is one of the table's");
  for (std::size_t m = 0; m < t.description().metrics.size(); ++m)
    for (std::size_t f = 0; f < t.fidelities(); ++f) {
      const auto v = t.value({*row, m, f}, 5);
      hold(!v || !std::isnan(*v), "a value is a number");
      hold(v.has_value() == t.mean({*row, m, f}).has_value(), "what has one has a mean");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rest = text_of(data, size);
  const auto next = [&] {
    const auto part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
  };
  auto d = parse_table_description(next(), "t.toml");
  if (!d)
    return refused(d);
  const auto space = parse_search_space(to_toml(d->space), "t.toml");
  hold(space, "the space that is written can be read");
  hold(to_toml(*space) == to_toml(d->space), "and is the same");
  std::vector<table_source> files;
  while (!rest.empty())
    files.push_back({"x.csv", std::string(next())});
  const auto t = benchmark_table::read(std::move(*d), files);
  if (!t)
    return refused(t);
  auto random = derive(1, purpose::sample, 0, 0);
  for (int i = 0; i < 4; ++i) {
    const auto sampled = sample(*space, table_problem(), random);
    hold(sampled, "a space without layers has networks");
    look_up(*t, sampled->child);
  }
  return 0;
}
