#include "tests/engine/collectives/link_laws.hpp"

#include "engine/collectives/collectives.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

namespace clade::test {
namespace {

using std::size_t;
using share_values = std::vector<std::vector<float>>;

std::vector<std::byte> pattern(size_t member, size_t size) {
  std::vector<std::byte> all(size);
  for (size_t i = 0; i < size; ++i)
    all[i] = static_cast<std::byte>(member * 31 + i * 7);
  return all;
}

/// Returns the sum that `all_reduce` promises.
std::vector<float> ordered_sum(const share_values& shares) {
  const auto count = shares.size(), size = shares.front().size();
  std::vector<float> sum(size);
  for (size_t c = 0; c < count; ++c)
    for (size_t i = size * c / count; i < size * (c + 1) / count; ++i) {
      sum[i] = shares[c][i];
      for (size_t s = 1; s < count; ++s)
        sum[i] += shares[(c + s) % count][i];
    }
  return sum;
}

share_values random_shares(size_t count, size_t size) {
  share_values shares(count, std::vector<float>(size));
  for (auto& s : shares)
    for (auto& v : s)
      v = static_cast<float>(*rc::gen::arbitrary<std::int32_t>()) / 65'536.0F;
  return shares;
}

std::vector<std::span<const float>> own_of(const share_values& shares, const links& l) {
  const auto r = shares_of(l.own(), l.members(), shares.size());
  return {shares.begin() + static_cast<std::ptrdiff_t>(r.begin),
          shares.begin() + static_cast<std::ptrdiff_t>(r.end)};
}

void check_sums(const run_members& run) {
  CHECK(rc::check([&] {
    const auto members = *rc::gen::inRange<size_t>(1, 6);
    const auto count = members + *rc::gen::inRange<size_t>(0, 4);
    const auto shares = random_shares(count, *rc::gen::inRange<size_t>(1, 300));
    const auto expected = ordered_sum(shares);
    const auto size = expected.size();
    share_values at_once(members, std::vector<float>(size)), in_halves = at_once;
    std::vector<char> segments(members);
    run(members, [&](links& l) {
      const auto own = own_of(shares, l);
      all_reduce<float>(l, own, count, at_once[l.own()]);
      auto& halves = in_halves[l.own()];
      reduce_scatter<float>(l, own, count, halves);
      const auto s = segment_of(l.own(), members, count, size);
      segments[l.own()] = static_cast<char>(
          std::equal(halves.begin() + static_cast<std::ptrdiff_t>(s.begin),
                     halves.begin() + static_cast<std::ptrdiff_t>(s.end),
                     expected.begin() + static_cast<std::ptrdiff_t>(s.begin)));
      all_gather_segments<float>(l, count, halves);
    });
    for (size_t m = 0; m < members; ++m) {
      RC_ASSERT(at_once[m] == expected);
      RC_ASSERT(in_halves[m] == expected);
      RC_ASSERT(segments[m] != 0);
    }
  }));
}

// A row that is added up part by part has the sum of the whole row.
void check_sums_of_parts(const run_members& run) {
  CHECK(rc::check([&] {
    const auto members = *rc::gen::inRange<size_t>(1, 6);
    const auto count = members + *rc::gen::inRange<size_t>(0, 4);
    const auto shares = random_shares(count, *rc::gen::inRange<size_t>(1, 300));
    const auto expected = ordered_sum(shares);
    const auto size = expected.size(), step = *rc::gen::inRange<size_t>(1, size + 1);
    share_values sums(members, std::vector<float>(size));
    run(members, [&](links& l) {
      for (size_t begin = 0; begin < size; begin += step) {
        auto own = own_of(shares, l);
        const auto part = std::min(step, size - begin);
        for (auto& s : own)
          s = s.subspan(begin, part);
        reduce_scatter<float>(l, own, count,
                              std::span(sums[l.own()]).subspan(begin, part),
                              {.begin = begin, .row = size});
      }
    });
    for (size_t c = 0; c < count; ++c)
      for (size_t i = size * c / count; i < size * (c + 1) / count; ++i)
        RC_ASSERT(sums[owner_of_chunk(c, members, count)][i] == expected[i]);
  }));
}

void check_spreading(const run_members& run) {
  CHECK(rc::check([&] {
    const auto members = *rc::gen::inRange<size_t>(1, 7);
    const auto root = *rc::gen::inRange<size_t>(0, members);
    const auto block = *rc::gen::inRange<size_t>(0, 5'000);
    std::vector<std::vector<std::byte>> broadcasted(members), gathered(members);
    run(members, [&](links& l) {
      auto& b = broadcasted[l.own()];
      b = pattern(l.own(), block);
      broadcast(l, root, b);
      auto& g = gathered[l.own()];
      g.resize(block * members);
      std::ranges::copy(pattern(l.own(), block),
                        g.begin() + static_cast<std::ptrdiff_t>(l.own() * block));
      all_gather(l, g);
      barrier(l);
    });
    std::vector<std::byte> all;
    for (size_t m = 0; m < members; ++m)
      std::ranges::copy(pattern(m, block), std::back_inserter(all));
    for (size_t m = 0; m < members; ++m) {
      RC_ASSERT(broadcasted[m] == pattern(root, block));
      RC_ASSERT(gathered[m] == all);
    }
  }));
}

// More than any socket holds, from everybody to everybody, before anybody receives.
void check_mutual_sending(const run_members& run) {
  constexpr size_t members = 3, size = 6 << 20;
  std::vector<char> right(members);
  run(members, [&](links& l) {
    for (size_t m = 0; m < members; ++m)
      if (m != l.own())
        l.send(m, pattern(l.own(), size));
    bool same = true;
    std::vector<std::byte> in(size);
    size_t last = l.own();
    for (size_t i = 1; i < members; ++i) {
      last = l.wait_for_any(size, last);
      same = same && l.has_come(last, size);
      l.receive(last, in);
      same = same && in == pattern(last, size);
    }
    right[l.own()] = static_cast<char>(same);
    barrier(l);
  });
  CHECK(std::ranges::count(right, 1) == members);
}

void check_bytes(const run_members& run) {
  constexpr size_t members = 4, size = 4'000;
  const share_values shares(members, std::vector<float>(size, 1));
  std::vector<std::uint64_t> sent(members);
  run(members, [&](links& l) {
    const auto before = l.bytes_sent();
    std::vector<float> sum(size);
    all_reduce<float>(l, own_of(shares, l), members, sum);
    sent[l.own()] = l.bytes_sent() - before;
  });
  for (const auto s : sent)
    CHECK(s == 2 * (members - 1) * size * sizeof(float) / members);
}

} // namespace

void run_linked(std::vector<std::unique_ptr<links>> all, const member_work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (auto& l : all)
    threads.emplace_back([&] {
      try {
        work(*l);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure)
          failure = std::current_exception();
      }
    });
  for (auto& t : threads)
    t.join();
  if (failure)
    std::rethrow_exception(failure);
}

void check_links(const run_members& run) {
  check_sums(run);
  check_sums_of_parts(run);
  check_spreading(run);
  check_mutual_sending(run);
  check_bytes(run);
}

} // namespace clade::test
