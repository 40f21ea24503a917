// Large weights and checkpoints. A link fetches, piece by piece, what an assignment starts
// from (`lent`), and sends what a result comes with before the result itself (`uploads`).
// The data source reads and writes the files, so that the head never has a large blob in
// memory. Each piece counts as a sign of life of its node. A piece that belongs to a
// lease that ended is refused, and forgotten with the next assignment. An evaluation
// whose weights or checkpoint could not be had whole counts all the same: they are made
// again when needed.

#include "actors/head/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

std::optional<lease> dispatcher_state::lease_of(node_id id, std::uint64_t number) const {
  const auto leases = schedule.leases_of(id);
  const auto found = std::ranges::find(leases, number, &lease::number);
  return found == leases.end() ? std::nullopt : std::optional(*found);
}

void dispatcher_state::forget_ended(node_id id, node_entry& node) const {
  const auto ended = [&](const auto& one) { return !lease_of(id, one.first.first); };
  std::erase_if(node.lent, ended);
  std::erase_if(node.uploads, ended);
}

caf::result<chunk> dispatcher_state::lend(const fetch_piece& request) {
  const auto node = nodes.find(request.node);
  if (node == nodes.end() || !lease_of(request.node, request.lease))
    return chunk{"its lease has ended", {}};
  schedule.hear(request.node, now());
  const auto found = node->second.lent.find({request.lease, request.part});
  if (found == node->second.lent.end())
    return chunk{"the task starts from nothing of that kind", {}};
  return self->delegate(params.source, read_piece{found->second, request.offset});
}

caf::result<piece_taken> dispatcher_state::take(piece part) {
  const auto node = nodes.find(part.node);
  const auto held = node == nodes.end() ? std::nullopt : lease_of(part.node, part.lease);
  if (!held)
    return piece_taken{"its lease has ended"};
  schedule.hear(part.node, now());
  if (params.incoming.empty())
    return piece_taken{"the run has no folder"};
  if (part.size > most_blob_bytes || part.data.size() > piece_bytes
      || part.part > blob_part::checkpoint)
    return piece_taken{"it is too large"};
  const part_key key{part.lease, part.part};
  auto& to = node->second.uploads[key].to;
  if (!to || to->size != part.size || to->checksum != part.checksum)
    node->second.uploads[key] = {
        .to = std::make_shared<upload>(
            upload{.file = params.incoming / (fmt::format("{}.part", ++last_upload)),
                   .id = held->id.candidate,
                   .size = part.size,
                   .checksum = part.checksum}),
        .whole = {}};
  auto answer = self->make_response_promise<piece_taken>();
  self->request(params.source, caf::infinite, write_piece{to, std::move(part)})
      .then([this, answer, key, id = node->first, to](piece_written& done) mutable {
        if (done.failure)
          self->send(selector, run_failure{std::move(*done.failure)});
        const auto found = nodes.find(id);
        if (!done.whole.empty() && found != nodes.end())
          if (const auto at = found->second.uploads.find(key);
              at != found->second.uploads.end() && at->second.to == to)
            at->second.whole = std::move(done.whole);
        answer.deliver(std::move(done.answer));
      });
  return answer;
}

blob dispatcher_state::whole_of(node_entry& node, const result& r, blob_part part) const {
  const auto& sent = *blob_of(r, part);
  if (!sent.is_absent())
    return sent;
  auto arrived = node.uploads.extract({r.lease, part});
  if (arrived && arrived.mapped().whole == sent)
    return arrived.mapped().whole;
  say(fmt::format("{} could not send the {} of {}", node.view.name, to_text(part),
                  to_text(r.id)));
  return {};
}

} // namespace clade
