#include "actors/head/archive.hpp"

namespace clade {

// A checkpoint is there before the record that lets others start from it.
expected<store::place> archive_state::write(const append& a) {
  if (a.checkpoints && checkpoints)
    for (const auto& [id, checkpoint] : *a.checkpoints)
      if (auto kept = checkpoints->write(id, checkpoint); !kept)
        return tl::unexpected(kept.error());
  auto written = file->append(*a.entries);
  if (written && !a.keep.empty())
    if (auto kept = file->keep_weights(a.keep); !kept)
      return tl::unexpected(kept.error());
  if (written && a.tidy && checkpoints)
    if (auto kept = checkpoints->keep(a.tidy->of, a.tidy->last); !kept)
      return tl::unexpected(kept.error());
  return written;
}

expected<lineage> archive_state::trace(candidate_id id) const {
  return file->find_candidate(id).and_then([&](const candidate& c) {
    return trace_lineage(
        c, {.candidate_of = [&](candidate_id one) { return file->find_candidate(one); },
            .checkpoint_of =
                [&](candidate_id one) {
                  return checkpoints ? checkpoints->read(one) : blob();
                }});
  });
}

archive_actor::behavior_type
archive_behavior(archive_actor::stateful_pointer<archive_state> self,
                 std::shared_ptr<store> file,
                 const std::filesystem::path& checkpoints_folder) {
  self->state.file = std::move(file);
  if (!checkpoints_folder.empty())
    self->state.checkpoints.emplace(checkpoints_folder);
  return {
      [self](const append& a) -> appended { return {self->state.write(a)}; },
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
      [self](const fetch_lineages& f) -> fetched_lineages {
        std::vector<lineage> all;
        for (const auto id : f.ids) {
          auto one = self->state.trace(id);
          if (!one)
            return {tl::unexpected(one.error())};
          all.push_back(std::move(*one));
        }
        return {std::move(all)};
      },
  };
}

} // namespace clade
