#include "engine/training/parallel/common/ordered_sum.hpp"

#include <algorithm>
#include <array>

namespace clade {
namespace {

// So many values are added up in a buffer that stays in the processor's nearest cache.
constexpr std::int64_t block = 1024;

/// The same tensor of each replica.
template<class T>
using pointers = std::vector<T*>;

template<class T>
void add_up_range(const pointers<T>& of, std::size_t first, std::size_t receivers,
                  std::int64_t begin, std::int64_t end) {
  std::array<T, block> sum;
  for (; begin < end; begin += block) {
    const auto size = static_cast<std::size_t>(std::min(block, end - begin));
    std::copy_n(of[first] + begin, size, sum.begin());
    for (std::size_t i = 1; i < of.size(); ++i) {
      const auto* next = of[(first + i) % of.size()] + begin;
      for (std::size_t j = 0; j < size; ++j)
        sum[j] += next[j];
    }
    for (std::size_t i = 0; i < receivers; ++i)
      std::copy_n(sum.begin(), size, of[i] + begin);
  }
}

template<class T>
void add_up(std::span<const tensor_list> replicas, std::size_t receivers,
            std::size_t part) {
  std::int64_t all = 0;
  for (const auto& t : replicas.front())
    all += t.numel();
  const auto count = static_cast<std::int64_t>(replicas.size());
  const auto chunk = static_cast<std::int64_t>(part);
  const auto begin = all * chunk / count, end = all * (chunk + 1) / count;
  std::int64_t at = 0; // The place at which the tensor begins.
  pointers<T> of(replicas.size());
  for (std::size_t i = 0; i < replicas.front().size(); ++i) {
    const auto size = replicas.front()[i].numel();
    const auto first = std::max(begin, at) - at, last = std::min(end, at + size) - at;
    at += size;
    if (first >= last)
      continue;
    for (std::size_t r = 0; r < replicas.size(); ++r)
      of[r] = replicas[r][i].template mutable_data_ptr<T>();
    add_up_range<T>(of, part, receivers, first, last);
  }
}

} // namespace

void add_up_part(std::span<const tensor_list> replicas, std::size_t receivers,
                 std::size_t part) {
  if (replicas.front().empty())
    return;
  if (replicas.front().front().scalar_type() == at::kDouble)
    add_up<double>(replicas, receivers, part);
  else
    add_up<float>(replicas, receivers, part);
}

bool lie_alike(const at::Tensor& a, const at::Tensor& b) {
  return a.is_non_overlapping_and_dense() && a.strides() == b.strides();
}

} // namespace clade
