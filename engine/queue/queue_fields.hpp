#pragma once

// The fields of what several msgpack forms have: the records of a queue, and what its
// machines say.

#include "engine/queue/queue_entry.hpp"
#include "genome/codec/fields.hpp"

namespace clade {

inline bool is_known(entry_kind k) {
  return static_cast<std::size_t>(k) < entry_kinds;
}

inline void fields(auto& v, like<queue_submission> auto& s) {
  v("user", s.user);
  v("kind", s.kind);
  v("words", s.words);
  v("directory", s.directory);
  v("name", s.name);
  v("priority", s.priority);
  v("slots", s.slots);
  v("device", s.device);
  v("time", s.time);
  v("after", s.after);
  v("requeue", s.requeue);
  v("once", s.once);
  v.last("ranks", s.ranks);
}

} // namespace clade
