// A page that is read stays mapped in, and counts as memory of the process, until it is
// given back. With it Linux maps in what its cache holds in one piece, up to 2 MiB, so
// that is what an example may cost at each of its ends. Rows are read in parts that stay
// within the budget, and pages are given back before a part would exceed it.

#include "engine/data/source/mapped_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace clade {
namespace {

constexpr std::size_t mapped_around = std::size_t{2} << 20;

} // namespace

std::span<const std::byte> mapped_source::in_place(std::size_t input) const {
  return whole(input) ? tables_.in_place(input) : std::span<const std::byte>();
}

expected<void> mapped_source::read(std::size_t input,
                                   std::span<const std::uint32_t> examples,
                                   std::span<std::byte> into) const {
  if (whole(input))
    return tables_.read(input, examples, into);
  const auto row_bytes = description().bytes_of_input(input);
  const auto each = (row_bytes / mapped_around + 2) * mapped_around;
  const auto budget = window_bytes(most_bytes_);
  const auto most = std::max<std::size_t>(1, budget / each);
  while (!examples.empty() || !into.empty()) {
    const auto part = examples.first(std::min(most, examples.size()));
    const auto bytes = examples.size() == part.size()
                           ? into
                           : into.first(std::min(into.size(), part.size() * row_bytes));
    if (mapped_in_.fetch_add(part.size() * each) + part.size() * each > budget) {
      give_back();
      mapped_in_ = part.size() * each;
    }
    if (auto read = tables_.read(input, part, bytes); !read)
      return read;
    examples = examples.subspan(part.size());
    into = into.subspan(bytes.size());
  }
  return {};
}

// Pages of files that other numbers share at the ends of a table are read again by those.
void mapped_source::give_back() const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < mapped_.size(); ++i) {
    if (whole(i) || !mapped_[i].mapped())
      continue;
    const auto bytes = mapped_[i].bytes();
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size());
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

} // namespace clade
