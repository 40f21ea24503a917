#include "genome/genes/unit_cube.hpp"

// Lists; what one domain says is in domain.cpp, beside drawing from it.

namespace clade {

namespace {

template<class Otherwise>
std::vector<double> coordinates(const std::vector<parameter>& parameters,
                                const std::vector<setting>& settings,
                                Otherwise otherwise) {
  std::vector<double> point;
  point.reserve(parameters.size());
  for (const parameter& p : parameters) {
    const value* v = find(settings, p.name);
    const bool known = v != nullptr && applies(p, settings) && contains(p, *v);
    point.push_back(known ? to_unit(p, *v) : otherwise());
  }
  return point;
}

} // namespace

std::vector<double> to_unit(const std::vector<parameter>& parameters,
                            const std::vector<setting>& settings, double otherwise) {
  return coordinates(parameters, settings, [&] { return otherwise; });
}

std::vector<double> to_unit(const std::vector<parameter>& parameters,
                            const std::vector<setting>& settings, random_stream& random) {
  return coordinates(parameters, settings, [&] { return random.uniform(); });
}

std::vector<setting> from_unit(const std::vector<parameter>& parameters,
                               std::span<const double> point) {
  std::vector<setting> settings;
  settings.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size() && i < point.size(); ++i)
    if (applies(parameters[i], settings))
      assign(settings, parameters[i].name, from_unit(parameters[i], point[i]));
  return settings;
}

} // namespace clade
