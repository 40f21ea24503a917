#include "engine/training/weights/checkpoint.hpp"

#include "engine/training/weights/sealed.hpp"

#include <fmt/format.h>

#include <limits>

// Grammar (msgpack):
//
//     checkpoint = [ "clade-checkpoint", 1, payload, checksum ]     sealed.hpp
//     payload    = [ genome, weights, position | nil ]
//     position   = [ key, epochs, weights, metrics, lowest_loss: real, since_lowest,
//                    optimiser: text, steps, moments: weights, [ generator: binary... ],
//                    average: weights, where there is one ]
//     metrics    = [ [ name: text, value: real ]... ]
//     weights    = binary, as in weights.cpp

namespace clade {
namespace {

constexpr sealed_format format{.name = "clade-checkpoint",
                               .version = 1,
                               .place = "checkpoint",
                               .one = "a checkpoint"};

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

} // namespace

void encode(encoder& out, const training_position& p) {
  out.array(p.average.empty() ? 10 : 11);
  out.natural(p.key).natural(p.epochs).binary(encode_weights(p.weights));
  out.array(p.best.size());
  for (const auto& m : p.best)
    out.array(2).text(m.name).real(m.value);
  out.real(p.lowest_loss).natural(p.since_lowest).text(p.optimiser).natural(p.steps);
  out.binary(encode_weights(p.moments)).array(p.generators.size());
  for (const auto& g : p.generators)
    out.binary(g);
  if (!p.average.empty())
    out.binary(encode_weights(p.average));
}

training_position decode_position(decoder& in) {
  training_position p;
  const auto size = in.array();
  if (size != 10 && size != 11)
    in.fail(fmt::format("a position of {} values", size));
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
  if (size == 11) {
    p.average = decode_tensors(in);
    if (p.average.empty())
      in.fail("an average of no weights");
  }
  return p;
}

bytes encode_checkpoint(const checkpoint& c) {
  encoder payload;
  payload.array(3).encode(c.genome).binary(encode_weights(c.weights));
  if (c.position)
    encode(payload, *c.position);
  else
    payload.nil();
  return seal(format, payload.take());
}

expected<checkpoint> decode_checkpoint(std::span<const char> data) {
  const auto body = unseal(format, data);
  if (!body)
    return tl::unexpected(body.error());

  decoder in(*body);
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
