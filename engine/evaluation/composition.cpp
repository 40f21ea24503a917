// Grammar (msgpack), with the parts of records (engine/run/records/record.cpp):
//
//   members     = [[id, genome, fold, bag, weights: binary]...]
//   composition = [model, tested, linear: tested | nil, trees: tested | nil,
//                  fitted_weights: binary]
#include "engine/evaluation/composition.hpp"

#include "engine/run/records/record_fields.hpp"

#include <algorithm>
#include <iterator>

namespace clade {

namespace {

trained_member decode_member(decoder& in) {
  trained_member m;
  in.array(5);
  m.id = in.natural();
  m.genome = in.genome();
  read_field(in, "fold", m.fold);
  m.bag = in.natural();
  m.weights = in.binary();
  return m;
}

} // namespace

composition lone_composition(const evaluation& champion, const std::string& why) {
  const auto id = champion.equal_to != 0 ? champion.equal_to : champion.id;
  composition c;
  c.model.members = {{.id = id, .share = 1}};
  std::ranges::copy_if(champion.metrics, std::back_inserter(c.model.metrics),
                       [](const metric& m) { return m.name.starts_with("validation."); });
  c.model.left_out = {"all models but the champion: " + why};
  c.tested = {.subject = "final model", .parameters = champion.parameters};
  return c;
}

bytes encode(std::span<const trained_member> members) {
  encoder out;
  out.array(members.size());
  for (const auto& m : members) {
    out.array(5).natural(m.id).encode(m.genome);
    write_field(out, m.fold);
    out.natural(m.bag).binary(m.weights);
  }
  return out.take();
}

expected<std::vector<trained_member>> decode_members(std::span<const char> data) {
  decoder in(data);
  auto members = decode_list(in, decode_member);
  return in.finish().map([&] { return std::move(members); });
}

bytes encode(const composition& c) {
  encoder out;
  out.array(5);
  write_field(out, c.model);
  write_field(out, c.tested);
  write_field(out, c.linear);
  write_field(out, c.trees);
  out.binary(c.fitted_weights);
  return out.take();
}

expected<composition> decode_composition(std::span<const char> data) {
  decoder in(data);
  composition c;
  in.array(5);
  read_field(in, "model", c.model);
  read_field(in, "tested", c.tested);
  read_field(in, "linear", c.linear);
  read_field(in, "trees", c.trees);
  c.fitted_weights = in.binary();
  return in.finish().map([&] { return std::move(c); });
}

} // namespace clade
