// Each class is shuffled by a stream of its own, (seed, split, 0, label), and dealt out:
// a part is owed its exact share of the class plus what rounding kept from it in the
// classes before, gets the whole part of that, and what is then left over goes to those
// that are owed most. So small classes do not all lose their test examples to the same
// rounding.

#include "engine/data/columns/split.hpp"

#include "genome/base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace clade {
namespace {

constexpr std::size_t parts = 3;

void shuffle(std::vector<std::uint32_t>& v, random_stream& random) {
  for (std::size_t i = v.size(); i > 1; --i)
    std::swap(v[i - 1], v[random.below(i)]);
}

// How many of `n` each part gets; `owed` carries the rounding on to the next class.
std::array<std::size_t, parts> deal(std::size_t n,
                                    const std::array<double, parts>& shares,
                                    std::array<double, parts>& owed) {
  std::array<std::size_t, parts> dealt{};
  std::size_t left = n;
  for (std::size_t p = 0; p < parts; ++p) {
    owed[p] += shares[p] * static_cast<double>(n);
    const double whole = std::floor(std::max(owed[p], 0.0));
    dealt[p] = std::min(static_cast<std::size_t>(whole), left);
    left -= dealt[p];
  }
  const auto still_owed = [&](std::size_t p) {
    return shares[p] > 0 ? owed[p] - static_cast<double>(dealt[p]) : -1e300;
  };
  for (; left > 0; --left) {
    std::size_t most = 0;
    for (std::size_t p = 1; p < parts; ++p)
      if (still_owed(p) > still_owed(most))
        most = p;
    ++dealt[most];
  }
  if (dealt[0] == 0) {
    --dealt[dealt[1] >= dealt[2] ? 1 : 2];
    ++dealt[0];
  }
  for (std::size_t p = 0; p < parts; ++p)
    owed[p] -= static_cast<double>(dealt[p]);
  return dealt;
}

std::array<double, parts> normalized(const split_shares& shares) {
  const double sum = shares.train + shares.validation + shares.test;
  return {shares.train / sum, shares.validation / sum, shares.test / sum};
}

/// Examples that stay together, and how many of them are of each class.
struct example_group {
  std::vector<std::uint32_t> examples;
  std::map<std::size_t, std::size_t> members; ///< By class.
};

std::vector<example_group> gather(std::span<const std::int64_t> labels,
                                  std::span<const std::uint32_t> groups,
                                  std::vector<double>& class_sizes) {
  std::map<std::int64_t, std::size_t> classes;
  for (const auto label : labels)
    classes.try_emplace(label, classes.size());
  class_sizes.assign(classes.size(), 0);
  std::map<std::uint32_t, example_group> by_group;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto c = classes.at(labels[i]);
    auto& group = by_group[groups[i]];
    group.examples.push_back(static_cast<std::uint32_t>(i));
    ++group.members[c];
    ++class_sizes[c];
  }
  std::vector<example_group> out;
  for (auto& [code, group] : by_group)
    out.push_back(std::move(group));
  return out;
}

} // namespace

split_parts split_by_time(std::span<const double> times, const split_shares& shares) {
  std::vector<std::uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return times[a] < times[b]; });
  std::array<double, parts> owed{};
  const auto dealt = deal(order.size(), normalized(shares), owed);
  split_parts out;
  auto next = order.begin();
  const std::array<std::vector<std::uint32_t>*, parts> part{&out.train, &out.validation,
                                                            &out.test};
  for (std::size_t p = 0; p < parts; ++p) {
    const auto end = next + static_cast<std::ptrdiff_t>(dealt[p]);
    part[p]->assign(next, end);
    std::ranges::sort(*part[p]);
    next = end;
  }
  return out;
}

// The largest groups are dealt first, each to the part that it brings nearest to its
// share of every class: by the sum over classes of the squared share that is still
// missing (StratifiedGroupKFold of scikit-learn goes about it alike).
split_parts split_by_group(std::span<const std::int64_t> labels,
                           std::span<const std::uint32_t> groups,
                           const split_shares& shares, std::uint64_t seed) {
  std::vector<double> sizes;
  auto all = gather(labels, groups, sizes);
  auto random = derive(seed, purpose::split, 2, 0);
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[random.below(i)]);
  std::ranges::stable_sort(all, [](const example_group& a, const example_group& b) {
    return a.examples.size() > b.examples.size();
  });
  const auto share = normalized(shares);
  std::array<std::vector<double>, parts> missing;
  for (std::size_t p = 0; p < parts; ++p)
    missing[p].assign(sizes.size(), share[p]);
  split_parts out;
  const std::array<std::vector<std::uint32_t>*, parts> part{&out.train, &out.validation,
                                                            &out.test};
  for (const auto& group : all) {
    const auto gain = [&](std::size_t p) {
      double sum = share[p] > 0 ? 0 : -1e300;
      for (const auto& [c, members] : group.members) {
        const double taken = static_cast<double>(members) / sizes[c];
        sum += missing[p][c] * missing[p][c]
               - (missing[p][c] - taken) * (missing[p][c] - taken);
      }
      return sum;
    };
    std::size_t best = 0;
    for (std::size_t p = 1; p < parts; ++p)
      if (gain(p) > gain(best))
        best = p;
    for (const auto& [c, members] : group.members)
      missing[best][c] -= static_cast<double>(members) / sizes[c];
    part[best]->insert(part[best]->end(), group.examples.begin(), group.examples.end());
  }
  for (auto* p : part)
    std::ranges::sort(*p);
  return out;
}

split_parts split(std::span<const std::int64_t> labels, const split_shares& shares,
                  std::uint64_t seed) {
  std::map<std::int64_t, std::vector<std::uint32_t>> members;
  for (std::size_t i = 0; i < labels.size(); ++i)
    members[labels[i]].push_back(static_cast<std::uint32_t>(i));
  const auto share = normalized(shares);
  std::array<double, parts> owed{};
  split_parts out;
  const std::array<std::vector<std::uint32_t>*, parts> part{&out.train, &out.validation,
                                                            &out.test};
  for (auto& [label, indices] : members) {
    auto random = derive(seed, purpose::split, 0, static_cast<std::uint64_t>(label));
    shuffle(indices, random);
    const auto dealt = deal(indices.size(), share, owed);
    auto next = indices.begin();
    for (std::size_t p = 0; p < parts; ++p) {
      const auto end = next + static_cast<std::ptrdiff_t>(dealt[p]);
      part[p]->insert(part[p]->end(), next, end);
      next = end;
    }
  }
  for (auto* p : part)
    std::sort(p->begin(), p->end());
  return out;
}

split_parts split_as_given(std::span<const std::uint8_t> parts) {
  split_parts out;
  const std::array<std::vector<std::uint32_t>*, 3> all{&out.train, &out.validation,
                                                       &out.test};
  for (std::size_t i = 0; i < parts.size(); ++i)
    all[parts[i]]->push_back(static_cast<std::uint32_t>(i));
  return out;
}

std::vector<std::uint32_t> draw(std::size_t count, std::size_t of, std::uint64_t seed,
                                std::uint64_t file) {
  std::vector<std::uint32_t> all(of);
  std::iota(all.begin(), all.end(), 0U);
  auto random = derive(seed, purpose::split, 1, file);
  for (std::size_t i = 0; i < count && i < of; ++i)
    std::swap(all[i], all[i + random.below(of - i)]);
  all.resize(std::min(count, of));
  std::sort(all.begin(), all.end());
  return all;
}

} // namespace clade
