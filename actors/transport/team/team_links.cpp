// A call that waits goes around: it writes a turn's worth to the one peer, reads a turn's
// worth from every peer that may have some, and polls where nothing is left to do. Bytes
// that the call receives are read to where they belong; others that come beside them are
// kept. A peer whose connection ends breaks the team, but only after the call had what
// came before.
#include "actors/transport/team/team_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {
namespace {

// In one go, before the other direction and other peers have theirs.
constexpr std::size_t turn_bytes = 256 << 10;

} // namespace

team_links::team_links(std::size_t own, std::vector<team_peer> peers, int interrupt)
    : own_(own),
      interrupt_(interrupt),
      polled_(peers.size() + 1) {
  for (auto& p : peers) {
    const bool linked = p.stream.has_value();
    peers_.push_back({{std::move(p)}, {}, linked, false});
  }
}

void team_links::exchange(std::size_t to, std::span<const std::byte> out,
                          std::size_t from, std::span<std::byte> in) {
  bytes_sent_ += out.size();
  if (to == own_)
    peers_[to].came.add(std::exchange(out, {}));
  peers_[from].came.take(in);
  to_ = to;
  from_ = from;
  out_ = out;
  in_ = in;
  may_write_ = true;
  proceed([this] { return out_.empty() && in_.empty(); });
}

void team_links::send(std::size_t to, std::span<const std::byte> out) {
  exchange(to, out, own_, {});
}

void team_links::receive(std::size_t from, std::span<std::byte> in) {
  exchange(own_, {}, from, in);
}

bool team_links::has_come(std::size_t from, std::size_t bytes) {
  const auto& p = peers_[from];
  if (p.came.size() < bytes)
    look(false);
  while (p.came.size() < bytes && p.may_have_more)
    read_some(from);
  if (p.came.size() < bytes && !broken_.empty())
    break_up(broken_);
  return p.came.size() >= bytes;
}

std::size_t team_links::wait_for_any(std::size_t bytes, std::size_t last) {
  std::size_t found = 0;
  proceed([&] {
    for (std::size_t i = 1; i <= members(); ++i) {
      found = (last + i) % members();
      if (found != own_ && peers_[found].came.size() >= bytes)
        return true;
    }
    return false;
  });
  return found;
}

std::uint64_t team_links::wire_bytes_sent() const {
  std::uint64_t sum = 0;
  for (const auto& p : peers_)
    sum += p.stream ? p.stream->wire_bytes_sent() : 0;
  return sum;
}

template<class Done>
void team_links::proceed(Done done) {
  for (;;) {
    write_some();
    for (std::size_t i = 0; i < members() && !done(); ++i)
      read_some(i);
    if (done())
      return;
    if (!broken_.empty())
      break_up(broken_);
    look(!can_go_on());
  }
}

void team_links::write_some() {
  auto& p = peers_[to_];
  if (out_.empty() || !may_write_ || p.ended)
    return;
  auto turn = out_.first(std::min(turn_bytes, out_.size()));
  const auto before = turn.size();
  const auto step = p.stream->write(turn);
  out_ = out_.subspan(before - turn.size());
  may_write_ = step == tls_step::done;
  if (step == tls_step::ended)
    end(p);
}

void team_links::read_some(std::size_t from) {
  auto& p = peers_[from];
  if (!p.may_have_more)
    return;
  const bool asked_for = from == from_ && !in_.empty();
  auto room = asked_for ? in_.first(std::min(turn_bytes, in_.size())) : p.came.room();
  const auto before = room.size();
  const auto step = p.stream->read(room);
  const auto count = before - room.size();
  if (asked_for)
    in_ = in_.subspan(count);
  else
    p.came.added(count);
  p.may_have_more = step == tls_step::done;
  if (step == tls_step::ended)
    end(p);
}

void team_links::end(peer& p) {
  p.ended = true;
  p.may_have_more = false;
  if (broken_.empty())
    broken_ = fmt::format("{} is lost: {}", p.name, p.stream->why_ended());
}

// The spans of the call that waited belong to the caller again.
void team_links::break_up(const std::string& why) {
  out_ = {};
  in_ = {};
  broken_ = why;
  throw team_broken(broken_);
}

bool team_links::can_go_on() const {
  return (!out_.empty() && may_write_)
         || std::ranges::any_of(peers_, [](const peer& p) { return p.may_have_more; });
}

void team_links::look(bool block) {
  for (std::size_t i = 0; i < members(); ++i) {
    const auto& p = peers_[i];
    const bool watched = p.stream && !p.ended;
    polled_[i] = {.fd = watched ? p.stream->descriptor() : -1, .events = 0, .revents = 0};
    if (!watched)
      continue;
    polled_[i].events = p.stream->read_events();
    if (i == to_ && !out_.empty() && !may_write_)
      polled_[i].events |= p.stream->write_events();
  }
  polled_.back() = {.fd = interrupt_, .events = POLLIN, .revents = 0};
  if (::poll(polled_.data(), polled_.size(), block ? -1 : 0) < 0 && errno != EINTR)
    break_up(std::string("poll: ") + std::strerror(errno));
  if (polled_.back().revents != 0)
    break_up("the team is formed anew, or its task is dropped");
  for (std::size_t i = 0; i < members(); ++i)
    if (const auto events = polled_[i].revents; events != 0) {
      peers_[i].may_have_more = true;
      may_write_ = may_write_ || i == to_;
    }
}

} // namespace clade
