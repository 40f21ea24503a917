#include "actors/archive.hpp"

namespace clade {

archive_actor::behavior_type
archive_behavior(archive_actor::stateful_pointer<archive_state> self,
                 std::shared_ptr<store> file) {
  self->state.file = std::move(file);
  return {
      [self](const append& a) -> appended {
        auto written = self->state.file->append(*a.entries);
        if (written && !a.keep.empty())
          if (auto kept = self->state.file->keep_weights(a.keep); !kept)
            return {tl::unexpected(kept.error())};
        return {std::move(written)};
      },
      [self](const keep_picture& k) { self->state.file->keep_picture(*k.picture); },
      [self](const write_kept&) -> kept_written {
        return {self->state.file->write_picture()};
      },
      [self](const fetch_evaluation& f) -> fetched_evaluation {
        return {self->state.file->find_evaluation(f.id)};
      },
      [self](const fetch_weights& f) -> fetched_weights {
        return {self->state.file->find_weights(f.id)};
      },
  };
}

} // namespace clade
