#include "engine/data/source/shuffled.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace clade {
namespace {

// So many pieces of different places are in a window: files are often sorted by class.
constexpr std::size_t pieces = 64;

// Fisher and Yates.
template<class T>
void shuffle(std::span<T> values, random_stream& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(i)]);
}

} // namespace

std::vector<std::int64_t> shuffled(std::size_t count, std::size_t window,
                                   random_stream& random) {
  std::vector<std::int64_t> out(count);
  if (count <= window) {
    std::iota(out.begin(), out.end(), std::int64_t{0});
    shuffle(std::span(out), random);
    return out;
  }
  window = std::max<std::size_t>(1, window);
  const auto piece = std::max<std::size_t>(1, window / pieces);
  std::vector<std::size_t> begins((count + piece - 1) / piece);
  for (std::size_t i = 0; i < begins.size(); ++i)
    begins[i] = i * piece;
  shuffle(std::span(begins), random);
  auto at = out.begin();
  for (const auto begin : begins) {
    const auto end = at + static_cast<std::ptrdiff_t>(std::min(piece, count - begin));
    std::iota(at, end, static_cast<std::int64_t>(begin));
    at = end;
  }
  for (std::size_t from = 0; from < count; from += window)
    shuffle(std::span(out).subspan(from, std::min(window, count - from)), random);
  return out;
}

} // namespace clade
