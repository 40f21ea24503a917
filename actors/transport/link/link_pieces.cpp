// Large weights and checkpoints, piece by piece. The blobs that an assignment starts from
// are fetched before the node gets the assignment, those that a result comes with are
// sent before the head gets the result; small ones pass meanwhile. A few pieces are under
// way at a time, so that heartbeats are not held up and neither side has much in its
// buffers. Every answer is a sign of life of the head. A blob that cannot be had, or is
// not taken, does not end the connection: the node, or the head, gets the message with
// the blob absent and knows what to do without.
#include "actors/transport/link/link.hpp"
#include "engine/store/sqlite/blob_folder.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

namespace clade {

namespace {

constexpr std::size_t most_unanswered = 4;

std::vector<blob_part> large_parts(const result& r) {
  std::vector<blob_part> large;
  std::ranges::copy_if(blob_parts, std::back_inserter(large), [&](blob_part part) {
    const auto* b = blob_of(r, part);
    return b != nullptr && !travels_whole(*b);
  });
  return large;
}

std::optional<blob_part> first_absent(const assignment& a) {
  for (const auto part : blob_parts)
    if (const auto* b = blob_of(a, part); b != nullptr && b->is_absent())
      return part;
  return std::nullopt;
}

} // namespace

void link_state::take(const assignments& message) {
  assignments whole;
  leaving refused{.node = node_number, .not_done = {}};
  for (const auto& a : message.batch) {
    if (!first_absent(a)) {
      whole.batch.push_back(a);
    } else if (draining) {
      refused.not_done.push_back(a.id);
    } else {
      arriving[a.lease] = {.what = a, .got = {}};
      fetch(a.lease);
    }
  }
  if (!whole.batch.empty())
    self->send(params.node, std::move(whole));
  if (!refused.not_done.empty())
    hand_back(std::move(refused));
}

// Asks for the next pieces, or gives the node the assignment when it has come whole.
void link_state::fetch(std::uint64_t lease) {
  auto& c = arriving.at(lease);
  const auto part = first_absent(c.what);
  if (!part) {
    assignments whole;
    whole.batch.push_back(std::move(c.what));
    arriving.erase(lease);
    return self->send(params.node, std::move(whole));
  }
  const auto size = blob_of(c.what, *part)->size();
  try {
    if (c.asked == 0)
      c.got.reserve(size <= most_blob_bytes ? size : throw std::bad_alloc());
  } catch (const std::bad_alloc&) {
    return give_up(lease, "there is no memory for it");
  }
  const auto ahead = most_unanswered * piece_bytes;
  for (; c.asked < std::min<std::uint64_t>(size, c.got.size() + ahead);
       c.asked += piece_bytes)
    self->request(params.dispatcher, caf::infinite,
                  fetch_piece{node_number, lease, *part, c.asked})
        .then([this, lease,
               offset = c.asked](const chunk& piece) { arrive(lease, offset, piece); },
              [this](caf::error& e) {
                end("a piece was not sent: " + self->system().render(e));
              });
}

void link_state::arrive(std::uint64_t lease, std::uint64_t offset, const chunk& piece) {
  answered = self->clock().now();
  const auto found = arriving.find(lease);
  if (found == arriving.end())
    return; // Nobody wants it any more.
  auto& c = found->second;
  auto& wanted = *blob_of(c.what, *first_absent(c.what));
  if (!piece.failure.empty())
    return give_up(lease, piece.failure);
  if (offset != c.got.size()
      || piece.data.size()
             != std::min<std::uint64_t>(piece_bytes, wanted.size() - offset))
    return give_up(lease, "it became shorter");
  c.got += piece.data;
  if (c.got.size() == wanted.size()) {
    blob whole(std::exchange(c.got, {}));
    if (whole != wanted)
      return give_up(lease, "what came has another checksum than was announced");
    wanted = std::move(whole);
    c.asked = 0;
  }
  fetch(lease);
}

// The trainer or evaluator finds that it cannot load the blob, and says why.
void link_state::give_up(std::uint64_t lease, const std::string& why) {
  auto given_up = arriving.extract(lease);
  assignments without;
  auto& a = without.batch.emplace_back(std::move(given_up.mapped().what));
  for (const auto part : blob_parts)
    if (auto* b = blob_of(a, part); b != nullptr && b->is_absent())
      *b = blob::absent(
          b->size(), b->checksum(),
          fmt::format("the head could not send the {}: {}", to_text(part), why));
  self->send(params.node, std::move(without));
}

void link_state::carry(const results& message) {
  results whole{.node = message.node, .batch = {}};
  for (const auto& r : message.batch) {
    if (auto large = large_parts(r); large.empty()) {
      whole.batch.push_back(r);
    } else {
      departing[r.lease] = {.what = r, .rest = std::move(large), .offset = {}};
      send_pieces(r.lease);
    }
  }
  if (!whole.batch.empty())
    deliver(std::move(whole));
}

// Sends the next pieces, the first one empty to learn what the head has, or the result
// when the last blob is there.
void link_state::send_pieces(std::uint64_t lease) {
  auto& g = departing.at(lease);
  if (g.rest.empty()) {
    results whole{.node = node_number, .batch = {}};
    whole.batch.push_back(std::move(g.what));
    departing.erase(lease);
    return deliver(std::move(whole));
  }
  const auto& content = *blob_of(g.what, g.rest.front());
  piece next{.node = node_number,
             .lease = lease,
             .part = g.rest.front(),
             .size = content.size(),
             .checksum = content.checksum()};
  if (!g.offset) {
    if (g.unanswered == 0)
      send(lease, std::move(next));
    return;
  }
  while (g.unanswered < most_unanswered && *g.offset < content.size()) {
    auto data = content.read(*g.offset, piece_bytes);
    if (!data)
      break; // It is in memory, so this does not happen.
    next.offset = *g.offset;
    next.data = std::move(*data);
    *g.offset += next.data.size();
    send(lease, next);
  }
}

void link_state::send(std::uint64_t lease, piece part) {
  ++departing.at(lease).unanswered;
  self->request(params.dispatcher, caf::infinite, std::move(part))
      .then([this, lease](const piece_taken& answer) { sent(lease, answer); },
            [this](caf::error& e) {
              end("a piece was not taken: " + self->system().render(e));
            });
}

void link_state::sent(std::uint64_t lease, const piece_taken& answer) {
  answered = self->clock().now();
  auto& g = departing.at(lease);
  --g.unanswered;
  g.refused = g.refused || !answer.failure.empty();
  if (!g.offset)
    g.offset = answer.next;
  const bool all_sent = *g.offset >= blob_of(g.what, g.rest.front())->size();
  if (!all_sent && !g.refused)
    return send_pieces(lease);
  if (g.unanswered > 0)
    return;
  g.rest.erase(g.rest.begin());
  g.offset.reset();
  g.refused = false;
  send_pieces(lease);
}

} // namespace clade
