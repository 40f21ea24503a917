#include "tools/queue/head/event_batch.hpp"

#include "genome/codec/fields.hpp"

namespace clade {

static void fields(auto& v, like<stored_event> auto& e) {
  v("sequence", e.sequence);
  v("unix_ms", e.unix_ms);
  v("payload", e.payload, as_binary());
  v("checksum", e.checksum);
}

static void fields(auto& v, like<event_batch> auto& b) {
  v("last", b.last);
  v("checksum", b.checksum);
  v("events", b.events);
}

bytes encode(const event_batch& batch) {
  return encoded(batch);
}

expected<event_batch> decode_event_batch(std::span<const char> data) {
  return decoded<event_batch>(data);
}

} // namespace clade
