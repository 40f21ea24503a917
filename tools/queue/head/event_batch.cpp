#include "tools/queue/head/event_batch.hpp"

namespace clade {

bytes encode(const event_batch& batch) {
  encoder out;
  out.array(3).natural(batch.last).natural(batch.checksum).array(batch.events.size());
  for (const auto& e : batch.events)
    out.array(4)
        .natural(e.sequence)
        .integer(e.unix_ms)
        .binary(e.payload)
        .natural(e.checksum);
  return out.take();
}

expected<event_batch> decode_event_batch(std::span<const char> data) {
  decoder in(data);
  event_batch batch;
  in.array(3);
  batch.last = in.natural();
  batch.checksum = in.natural();
  batch.events = decode_list(in, [](decoder& d) {
    stored_event e;
    d.array(4);
    e.sequence = d.natural();
    e.unix_ms = d.integer();
    e.payload = d.binary();
    e.checksum = d.natural();
    return e;
  });
  return in.finish().map([&] { return std::move(batch); });
}

} // namespace clade
