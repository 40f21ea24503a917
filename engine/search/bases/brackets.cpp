// A generation's places are laid out when the one before it is closed: new candidates
// first, by their brackets, then the promoted, whose rungs fall; so a person's genomes,
// which take the first places, displace nobody that was promoted. The new places are
// shared out by largest remainder, ties to the lower rung.
#include "engine/search/bases/brackets.hpp"

#include "engine/search/core/front_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace clade {

namespace {

std::vector<std::size_t> share_out(std::size_t places,
                                   const std::vector<double>& shares) {
  const auto sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::size_t> counts;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::size_t given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto exact = static_cast<double>(places) * shares[i] / sum;
    counts.push_back(static_cast<std::size_t>(exact));
    given += counts.back();
    remainders.emplace_back(static_cast<double>(counts.back()) - exact, i);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; given < places; ++i, ++given)
    ++counts[remainders[i % remainders.size()].second];
  return counts;
}

} // namespace

brackets::brackets(const evolution_params& params, std::uint64_t seed)
    : generations(params, seed),
      ladder_(params) {}

void brackets::lay_out(std::vector<place> promoted) {
  promoted_ = std::move(promoted);
  if (promoted_.size() > params().population)
    promoted_.resize(params().population);
  places_.clear();
  const auto counts = share_out(params().population - promoted_.size(), beginnings());
  for (std::size_t rung = 0; rung < counts.size(); ++rung)
    for (std::size_t i = 0; i < counts[rung]; ++i)
      places_.push_back({.beginning = rung, .rung = rung});
  places_.insert(places_.end(), promoted_.begin(), promoted_.end());
}

// `first` is the id of the closed generation's first candidate. A person's genome, which
// is trained as the experiment says, is on no rung.
std::vector<brackets::place> brackets::promotions(std::uint64_t first) const {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> sizes;
  for (const auto& p : places_)
    ++sizes[{p.rung, p.beginning}];
  std::map<std::pair<std::size_t, std::size_t>, std::vector<individual>> by_bracket;
  for (const auto& i : survivors()) {
    const auto& was = places_[i.id - first];
    if (i.fitness.ok && i.epochs == ladder_.epochs(was.rung)
        && was.rung + 1 < ladder_.height())
      by_bracket[{was.rung, was.beginning}].push_back(i);
  }
  std::vector<place> all;
  for (auto it = by_bracket.rbegin(); it != by_bracket.rend(); ++it) {
    auto& [bracket, members] = *it;
    sort_by_worth(members);
    const auto most = std::max<std::size_t>(1, sizes[bracket] / reduction_of(params()));
    for (std::size_t i = 0; i < std::min(most, members.size()); ++i)
      all.push_back({bracket.second, bracket.first + 1, std::move(members[i])});
  }
  return all;
}

void brackets::choose_parents(breeding& order) const {
  const auto& place = places_[order.index];
  if (place.promoted.id != 0)
    train_on(order, place.promoted, ladder_.epochs(place.rung));
  else
    choose_new(order, place.rung);
}

void brackets::choose_new(breeding& order, std::size_t rung) const {
  breed_new(order, ladder_.breeders(), ladder_.epochs(rung), params(), seed());
}

void brackets::heard(const individual&, std::size_t, bool) {}

std::optional<generation_closed> brackets::closing() const {
  auto closed = generations::closing();
  if (!closed)
    return closed;
  auto after = ladder_;
  for (const auto& i : select())
    after.add(i);
  closed->survivors.clear();
  for (const auto& i : after.breeders())
    closed->survivors.push_back(i.id);
  return closed;
}

void brackets::close() {
  const auto first = before() + 1;
  generations::close();
  for (const auto& i : survivors()) {
    ladder_.add(i);
    const auto& was = places_[i.id - first];
    if (i.epochs == ladder_.epochs(was.rung))
      heard(i, was.rung, was.promoted.id != 0);
  }
  lay_out(promotions(first));
}

bool brackets::change(const evolution_params& params, std::uint64_t seed) {
  if (!generations::change(params, seed))
    return false;
  ladder_.resize(params);
  lay_out(std::move(promoted_));
  return true;
}

std::vector<individual> brackets::population() const {
  return ladder_.breeders();
}

} // namespace clade
