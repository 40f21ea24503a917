#include "engine/training/checkpoint.hpp"

#include "genome/hash.hpp"

#include <limits>

// Grammar (msgpack):
//
//     checkpoint = [ "clade-checkpoint", 1, payload: binary, checksum: natural ]
//     payload    = [ genome, weights, position | nil ]        checksum = XXH3(payload)
//     position   = [ key, epochs, weights, metrics, lowest_loss: real, since_lowest,
//                    optimiser: text, steps, moments: weights, [ generator: binary... ] ]
//     metrics    = [ [ name: text, value: real ]... ]
//     weights    = binary, as in weights.cpp
//
// A flipped bit anywhere is found: in the payload by the checksum, outside it by the
// grammar or, again, the checksum.

namespace clade {
namespace {

constexpr std::string_view format_name = "clade-checkpoint";
constexpr std::uint64_t format_version = 1;

void encode(encoder& out, const training_position& p) {
  out.array(10).natural(p.key).natural(p.epochs).binary(encode_weights(p.weights));
  out.array(p.best.size());
  for (const auto& m : p.best)
    out.array(2).text(m.name).real(m.value);
  out.real(p.lowest_loss).natural(p.since_lowest).text(p.optimiser).natural(p.steps);
  out.binary(encode_weights(p.moments)).array(p.generators.size());
  for (const auto& g : p.generators)
    out.binary(g);
}

std::vector<weight_tensor> decode_tensors(decoder& in) {
  auto tensors = decode_weights(in.binary());
  if (tensors)
    return std::move(*tensors);
  in.fail(tensors.error().message);
  return {};
}

std::uint32_t decode_small(decoder& in, const char* what) {
  const auto n = in.natural();
  if (n > std::numeric_limits<std::uint32_t>::max())
    in.fail(std::string("too many ") + what);
  return static_cast<std::uint32_t>(n);
}

metric decode_metric(decoder& in) {
  in.array(2);
  metric m{.name = in.text()};
  m.value = in.real();
  return m;
}

training_position decode_position(decoder& in) {
  training_position p;
  in.array(10);
  p.key = in.natural();
  p.epochs = decode_small(in, "epochs");
  p.weights = decode_tensors(in);
  p.best = decode_list(in, decode_metric);
  p.lowest_loss = in.real();
  p.since_lowest = decode_small(in, "epochs since the lowest loss");
  p.optimiser = in.text();
  p.steps = in.natural();
  p.moments = decode_tensors(in);
  p.generators = decode_list(in, [](decoder& d) { return d.binary(); });
  return p;
}

} // namespace

bytes encode_checkpoint(const checkpoint& c) {
  encoder payload;
  payload.array(3).encode(c.genome).binary(encode_weights(c.weights));
  if (c.position)
    encode(payload, *c.position);
  else
    payload.nil();
  const auto body = payload.take();
  encoder out;
  out.array(4)
      .text(format_name)
      .natural(format_version)
      .binary(body)
      .natural(hash64(body));
  return out.take();
}

expected<checkpoint> decode_checkpoint(std::span<const char> data) {
  decoder outer(data);
  outer.array(4);
  if (outer.text() != format_name)
    outer.fail("not a checkpoint");
  if (const auto version = outer.natural(); version != format_version)
    outer.fail("a checkpoint of version " + std::to_string(version));
  const auto body = outer.binary();
  const auto checksum = outer.natural();
  if (auto whole = outer.finish(); !whole)
    return fail_in("checkpoint", whole.error());
  if (checksum != hash64(body))
    return fail(error_kind::corrupt, "checkpoint: the checksum does not match");

  decoder in(body);
  checkpoint c;
  in.array(3);
  c.genome = in.genome();
  c.weights = decode_tensors(in);
  if (!in.is_nil())
    c.position = decode_position(in);
  if (auto whole = in.finish(); !whole)
    return fail_in("checkpoint", whole.error());
  return c;
}

} // namespace clade
