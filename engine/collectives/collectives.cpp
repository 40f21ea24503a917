#include "engine/collectives/collectives.hpp"

#include <algorithm>

// Rings. A segment is the chunks of one member's shares. It starts at that member with
// the sums of the member's shares from each chunk's first on, and travels around; each
// member adds its shares. If every member has one share, the segment is whole at
// the member before the first. If it has several, it goes on to the first member again,
// which adds the values before each chunk's first share. In the end segment r is at
// member r in this case, and at r - 1 in the other.

namespace clade {
namespace {

using std::size_t;

/// One member's place in the ring.
struct ring {
  ring(const links& l, size_t shares, size_t size)
      : ring(l, shares, size, {.begin = 0, .row = size}) {}
  ring(const links& l, size_t shares, size_t size, place_in_row place)
      : own(l.own()),
        members(l.members()),
        shares(shares),
        size(size),
        place(place),
        range(shares_of(own, members, shares)) {}

  /// Returns the place at which a chunk begins in the values.
  [[nodiscard]] size_t bound(size_t chunk) const {
    return std::clamp(place.row * chunk / shares, place.begin, place.begin + size)
           - place.begin;
  }

  [[nodiscard]] size_t next() const { return (own + 1) % members; }
  [[nodiscard]] size_t former() const { return (own + members - 1) % members; }
  [[nodiscard]] bool one_each() const { return shares == members; }
  /// The member `back` places before this one.
  [[nodiscard]] size_t before(size_t back) const {
    return (own + 2 * members - back) % members;
  }

  template<class T>
  [[nodiscard]] std::span<T> segment(std::span<T> values, size_t member) const {
    const auto r = shares_of(member, members, shares);
    return values.subspan(bound(r.begin), bound(r.end) - bound(r.begin));
  }

  size_t own, members, shares, size;
  place_in_row place;
  share_range range;
};

template<class T>
void add(std::span<T> to, std::span<const T> more) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] += more[i];
}

/// Computes, for each chunk of the member's own segment, the sum of its shares from the
/// chunk's on.
template<class T>
void begin_own(const ring& r, std::span<const std::span<const T>> own, std::span<T> sum) {
  for (size_t c = r.range.begin; c < r.range.end; ++c) {
    const auto begin = r.bound(c), count = r.bound(c + 1) - begin;
    const auto chunk = sum.subspan(begin, count);
    std::ranges::copy(own[c - r.range.begin].subspan(begin, count), chunk.begin());
    for (size_t s = c + 1; s < r.range.end; ++s)
      add<T>(chunk, own[s - r.range.begin].subspan(begin, count));
  }
}

/// Adds, for each chunk of the member's own segment, its shares before the chunk's own.
template<class T>
void end_own(const ring& r, std::span<const std::span<const T>> own, std::span<T> sum) {
  for (size_t c = r.range.begin; c < r.range.end; ++c) {
    const auto begin = r.bound(c), count = r.bound(c + 1) - begin;
    for (size_t s = r.range.begin; s < c; ++s)
      add<T>(sum.subspan(begin, count), own[s - r.range.begin].subspan(begin, count));
  }
}

template<class T>
void pass_on(links& l, const ring& r, std::span<T> values, size_t sent, size_t received) {
  const auto out = std::as_bytes(r.segment(values, sent));
  const auto in = bytes_of(r.segment(values, received));
  if (!out.empty() && !in.empty())
    l.exchange(r.next(), out, r.former(), in);
  else if (!out.empty())
    l.send(r.next(), out);
  else if (!in.empty())
    l.receive(r.former(), in);
}

// Which segment is whole here after the sums have gone around.
size_t whole_segment(const ring& r) {
  return r.one_each() ? r.next() : r.own;
}

template<class T>
void scatter_sums(links& l, const ring& r, std::span<const std::span<const T>> own,
                  std::span<T> sum) {
  begin_own<T>(r, own, sum);
  for (size_t hop = 1; hop < r.members; ++hop) {
    pass_on(l, r, sum, r.before(hop - 1), r.before(hop));
    const auto segment = r.segment(sum, r.before(hop));
    const auto begin = static_cast<size_t>(segment.data() - sum.data());
    for (const auto& share : own)
      add<T>(segment, share.subspan(begin, segment.size()));
  }
  if (r.one_each())
    return;
  if (r.members > 1)
    pass_on(l, r, sum, r.next(), r.own);
  end_own<T>(r, own, sum);
}

template<class T>
void gather_segments(links& l, const ring& r, std::span<T> values) {
  const auto first = whole_segment(r);
  for (size_t hop = 1; hop < r.members; ++hop)
    pass_on(l, r, values, (first + r.members - hop + 1) % r.members,
            (first + r.members - hop) % r.members);
}

} // namespace

share_range shares_of(size_t member, size_t members, size_t shares) {
  return {shares * member / members, shares * (member + 1) / members};
}

share_range segment_of(size_t member, size_t members, size_t shares, size_t size) {
  const auto whole = shares == members ? (member + 1) % members : member;
  const auto r = shares_of(whole, members, shares);
  return {size * r.begin / shares, size * r.end / shares};
}

size_t member_of_share(size_t share, size_t members, size_t shares) {
  size_t m = 0;
  while (shares_of(m, members, shares).end <= share)
    ++m;
  return m;
}

size_t owner_of_chunk(size_t chunk, size_t members, size_t shares) {
  return shares == members ? (chunk + members - 1) % members
                           : member_of_share(chunk, members, shares);
}

template<class T>
void reduce_scatter(links& l, std::span<const std::span<const T>> own, size_t shares,
                    std::span<T> sum) {
  scatter_sums<T>(l, ring(l, shares, sum.size()), own, sum);
}

template<class T>
void reduce_scatter(links& l, std::span<const std::span<const T>> own, size_t shares,
                    std::span<T> sum, place_in_row place) {
  scatter_sums<T>(l, ring(l, shares, sum.size(), place), own, sum);
}

template<class T>
void all_gather_segments(links& l, size_t shares, std::span<T> values) {
  gather_segments<T>(l, ring(l, shares, values.size()), values);
}

template<class T>
void all_reduce(links& l, std::span<const std::span<const T>> own, size_t shares,
                std::span<T> sum) {
  const ring r(l, shares, sum.size());
  scatter_sums<T>(l, r, own, sum);
  gather_segments<T>(l, r, sum);
}

template void reduce_scatter<float>(links&, std::span<const std::span<const float>>,
                                    size_t, std::span<float>);
template void reduce_scatter<double>(links&, std::span<const std::span<const double>>,
                                     size_t, std::span<double>);
template void reduce_scatter<float>(links&, std::span<const std::span<const float>>,
                                    size_t, std::span<float>, place_in_row);
template void all_gather_segments<float>(links&, size_t, std::span<float>);
template void all_gather_segments<double>(links&, size_t, std::span<double>);
template void all_reduce<float>(links&, std::span<const std::span<const float>>, size_t,
                                std::span<float>);
template void all_reduce<double>(links&, std::span<const std::span<const double>>, size_t,
                                 std::span<double>);

void all_gather(links& l, std::span<std::byte> all) {
  const auto members = l.members(), own = l.own(), block = all.size() / members;
  const auto of = [&](size_t member) {
    return all.subspan(member % members * block, block);
  };
  for (size_t hop = 1; hop < members; ++hop)
    l.exchange((own + 1) % members, of(own + members - hop + 1),
               (own + members - 1) % members, of(own + members - hop));
}

void look_for_others(links& l) {
  if (l.members() == 1)
    static_cast<void>(l.has_come(l.own(), 1));
}

// Counted from the root, member m gets it from m without its highest bit.
void broadcast(links& l, size_t root, std::span<std::byte> values) {
  const auto members = l.members();
  const auto place = (l.own() + members - root) % members;
  for (size_t bit = 1; bit < members; bit *= 2) {
    if (place < bit && place + bit < members)
      l.send((place + bit + root) % members, values);
    else if (place >= bit && place < 2 * bit)
      l.receive((place - bit + root) % members, values);
  }
}

void barrier(links& l) {
  std::vector<std::byte> marks(l.members());
  all_gather(l, marks);
}

} // namespace clade
