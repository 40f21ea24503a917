#pragma once

#include "engine/collectives/links.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace clade {

/// The operations that all members of a team do together: each calls the same function
/// with sizes that agree. All of them block until the member has its part of the result,
/// and throw `team_broken`.

/// Shares of a task that one member does: [begin, end).
struct share_range {
  std::size_t begin = 0, end = 0;

  [[nodiscard]] std::size_t size() const { return end - begin; }
  friend bool operator==(const share_range&, const share_range&) = default;
};

/// Neighbouring shares, as many for each member as for any other, or one more.
[[nodiscard]] share_range shares_of(std::size_t member, std::size_t members,
                                    std::size_t shares);

/// The member that does a share.
[[nodiscard]] std::size_t member_of_share(std::size_t share, std::size_t members,
                                          std::size_t shares);

/// The elements, of `size`, that a member has in the end after `reduce_scatter`, and gives
/// to `all_gather_segments`.
[[nodiscard]] share_range segment_of(std::size_t member, std::size_t members,
                                     std::size_t shares, std::size_t size);

/// The member that has a chunk in the end after `reduce_scatter`, of as many chunks as
/// there are shares: chunk c is elements [size * c / shares, size * (c + 1) / shares).
[[nodiscard]] std::size_t owner_of_chunk(std::size_t chunk, std::size_t members,
                                         std::size_t shares);

/// Says that values are elements [begin, begin + their size) of a longer row, which as a
/// whole is cut into chunks: their sum has the bits that it would have in that of the row.
struct place_in_row {
  std::size_t begin = 0, row = 0;
};

/// Adds up the values of all shares, element by element, for all members. `own`: of the
/// member's shares (`shares_of`), in their order; all have the size of `sum`.
///
/// The bits of the sum depend on the number of shares alone, not on who does them: the
/// elements are cut into as many chunks as there are shares, and chunk c is added up
/// beginning with share c, then c + 1, and so on, around; which is the order of a ring of
/// one member for each share (Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms
/// for Clusters of Workstations", 2009). With n members each sends 2(n-1)/n of the size,
/// and an n-th more where a member has several shares.
template<class T>
void all_reduce(links& l, std::span<const std::span<const T>> own, std::size_t shares,
                std::span<T> sum);

/// The first half: of `sum`, only the member's segment (`segment_of`) is the sum.
template<class T>
void reduce_scatter(links& l, std::span<const std::span<const T>> own, std::size_t shares,
                    std::span<T> sum);

/// The same for a part of a row, of which a member has in the end what its segment of the
/// row has of the part: perhaps nothing.
template<class T>
void reduce_scatter(links& l, std::span<const std::span<const T>> own, std::size_t shares,
                    std::span<T> sum, place_in_row place);

/// The second half: every member gets the segments of all others.
template<class T>
void all_gather_segments(links& l, std::size_t shares, std::span<T> values);

/// Every member gives as many bytes; all get those of all, in the order of members.
/// `all`: as many bytes for each member; the member's own are there already.
void all_gather(links& l, std::span<std::byte> all);

/// Everybody gets what `root` has, over a binomial tree.
void broadcast(links& l, std::size_t root, std::span<std::byte> values);

/// Nobody goes on before everybody is there.
void barrier(links& l);

/// Looks whether the team is formed anew, for a member that is alone: it waits for nobody,
/// so that no other call would tell it. Members of a larger team hear it while they wait.
void look_for_others(links& l);

/// The bytes of values.
template<class T>
[[nodiscard]] std::span<std::byte> bytes_of(std::span<T> values) {
  return std::as_writable_bytes(values);
}

} // namespace clade
