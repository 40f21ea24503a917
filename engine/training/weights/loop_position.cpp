#include "engine/training/weights/loop_position.hpp"

// Grammar (msgpack):
//
//     loop_position = [ position, best: weights, epoch, next_batch, assessed: boolean,
//                       total_loss: real, train_loss: real, [ epoch... ],
//                       updates: binary ]
//     position, weights                                            checkpoint.cpp

namespace clade {

bytes encode(const loop_position& p) {
  encoder out;
  out.array(9);
  encode(out, p.training);
  out.binary(encode_weights(p.best)).natural(p.epoch).natural(p.next_batch);
  out.boolean(p.assessed).real(p.total_loss).real(p.train_loss);
  out.array(p.curve.size());
  for (const auto& e : p.curve)
    encode(out, e);
  out.binary(p.updates);
  return out.take();
}

expected<loop_position> decode_loop_position(std::span<const char> data) {
  decoder in(data);
  loop_position p;
  in.array(9);
  p.training = decode_position(in);
  auto best = decode_weights(in.binary());
  if (best)
    p.best = std::move(*best);
  else
    in.fail(best.error().message);
  p.epoch = decode_small(in, "epochs");
  p.next_batch = in.natural();
  p.assessed = in.boolean();
  p.total_loss = in.real();
  p.train_loss = in.real();
  p.curve = decode_list(in, decode_epoch);
  p.updates = in.binary();
  if (auto whole = in.finish(); !whole)
    return fail_in("position of a training", whole.error());
  return p;
}

} // namespace clade
