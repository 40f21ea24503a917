// Grammar (msgpack), with the parts of records (engine/run/records/record.cpp):
//
//   members     = [[id, genome, fold, bag, weights: binary]...]
//   composition = [model, tested, [tested...], fitted_weights: binary]
#include "engine/evaluation/composition.hpp"

#include "engine/run/records/record_fields.hpp"

#include <algorithm>
#include <iterator>

namespace clade {

static void fields(auto& v, like<trained_member> auto& m) {
  v("id", m.id);
  v("genome", m.genome);
  v("fold", m.fold);
  v("bag", m.bag);
  v("weights", m.weights, as_binary());
}

static void fields(auto& v, like<composition> auto& c) {
  v("model", c.model);
  v("tested", c.tested);
  v("compared", c.compared);
  v("fitted weights", c.fitted_weights, as_binary());
}

std::vector<metric> of_validation(const std::vector<metric>& metrics) {
  std::vector<metric> out;
  std::ranges::copy_if(metrics, std::back_inserter(out),
                       [](const metric& m) { return m.name.starts_with("validation."); });
  return out;
}

composition lone_composition(const evaluation& champion, const std::string& why) {
  const auto id = champion.equal_to != 0 ? champion.equal_to : champion.id;
  composition c;
  c.model.members = {{.id = id, .share = 1}};
  c.model.metrics = of_validation(champion.metrics);
  c.model.left_out = {"all models but the champion: " + why};
  c.tested = {.subject = "final model", .parameters = champion.parameters};
  return c;
}

bytes encode(std::span<const trained_member> members) {
  return encoded(members);
}

expected<std::vector<trained_member>> decode_members(std::span<const char> data) {
  return decoded<std::vector<trained_member>>(data);
}

bytes encode(const composition& c) {
  return encoded(c);
}

expected<composition> decode_composition(std::span<const char> data) {
  return decoded<composition>(data);
}

} // namespace clade
