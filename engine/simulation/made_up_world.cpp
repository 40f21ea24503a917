#include "engine/simulation/made_up_world.hpp"

#include "genome/base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {
namespace {

double factor_at(const made_up_world& w, double time) {
  double factor = 1;
  for (const auto& phase : w.slow)
    if (time >= phase.from * w.seconds && time < phase.until * w.seconds)
      factor *= phase.factor;
  return factor;
}

/// Returns the next time at which the machine becomes slower or faster; infinite: none.
double next_change(const made_up_world& w, double time) {
  double next = std::numeric_limits<double>::infinity();
  for (const auto& phase : w.slow)
    for (const double change : {phase.from * w.seconds, phase.until * w.seconds})
      if (change > time)
        next = std::min(next, change);
  return next;
}

} // namespace

made_up_world drawn_world(std::uint64_t seed, machine_kind kind) {
  auto random = derive(seed, purpose::synthetic, 0, 0);
  const auto between = [&](double low, double high) {
    return low + (high - low) * random.uniform();
  };
  const auto over_decades = [&](double low, double high) {
    return std::exp(between(std::log(low), std::log(high)));
  };
  constexpr std::array<std::size_t, 5> slots{1, 2, 4, 8, 16};
  made_up_world w{.seed = seed,
                  .slots = slots[random.below(slots.size())],
                  .seconds = over_decades(30, 3600)};
  w.epoch_seconds = over_decades(w.seconds / 3000, w.seconds / 4);
  w.spread = between(0, 1.2);
  w.diverging = between(0, 1.0 / 3);
  const double from = between(0, 0.9), still = between(0, 0.8);
  const double until = random.chance(0.5) ? 1e9 : from + between(0, 0.5);
  if (kind != machine_kind::quiet)
    w.slow.push_back({.from = from, .until = until, .factor = over_decades(1, 10)});
  if (kind == machine_kind::stops)
    w.slow.push_back({.from = still, .until = still + between(0, 0.1), .factor = 1e6});
  return w;
}

made_up_network network_of(const made_up_world& w, genome_hash network) {
  auto random = derive(w.seed, purpose::synthetic, network.low, network.high);
  const auto between = [&](double low, double high) {
    return low + (high - low) * random.uniform();
  };
  const double normal = random.normal();
  return {.floor = between(0.02, 0.4),
          .start = 0.9,
          .unit = std::exp(between(std::log(0.3), std::log(6.0))),
          .exponent = between(0.2, 1),
          .epoch_seconds = w.epoch_seconds * std::exp(w.spread * normal),
          .diverges = random.chance(w.diverging)};
}

double error_after(const made_up_network& n, double epochs, double progress) {
  constexpr double by_rates = 0.2; // So much of the error goes as the rates fall.
  const double learnt = std::pow(1 + epochs / n.unit, -n.exponent);
  return n.floor + (n.start - n.floor) * learnt * (1 - by_rates * progress);
}

double end_of_work(const made_up_world& w, double from, double seconds) {
  for (double now = from, left = seconds;;) {
    const double factor = factor_at(w, now), change = next_change(w, now);
    const double end = now + left * factor;
    if (end <= change)
      return end;
    left -= (change - now) / factor;
    now = change;
  }
}

double work_done(const made_up_world& w, double from, double until) {
  double done = 0;
  for (double now = from; now < until;) {
    const double next = std::min(until, next_change(w, now));
    done += (next - now) / factor_at(w, now);
    now = next;
  }
  return done;
}

} // namespace clade
