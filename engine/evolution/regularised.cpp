#include "engine/evolution/regularised.hpp"

#include "engine/evolution/selection.hpp"

#include <algorithm>

namespace clade {

regularised::regularised(const evolution_params& params, std::uint64_t seed)
    : params_(params),
      seed_(seed) {
  order_due();
}

std::vector<breeding> regularised::ask(candidate_id beyond, std::size_t limit) const {
  std::vector<breeding> orders;
  for (const auto& order : orders_) {
    if (orders.size() == limit)
      break;
    if (order.id > beyond)
      orders.push_back(order);
  }
  return orders;
}

void regularised::born(const candidate&) {
  orders_.pop_front();
}

void regularised::tell(const individual& evaluated) {
  ++arrived_;
  told_.emplace(params_.tell_order == "asked" ? evaluated.id : arrived_, evaluated);
  hear();
}

// Results of the next generation are left alone until this one is closed: the survivors
// that the closing names must not depend on how many of those have come.
void regularised::hear() {
  while (heard_ < end_of_generation()) {
    const auto next = told_.find(heard_ + 1);
    if (next == told_.end())
      return;
    living_.push_back(std::move(next->second));
    told_.erase(next);
    if (living_.size() > params_.population)
      living_.pop_front();
    ++heard_;
    order_due();
  }
}

std::uint64_t regularised::end_of_generation() const {
  return changed_heard_ + (closed_ + 1 - changed_closed_) * params_.population;
}

// What was told and not heard is kept, and so are orders, which never change; but not
// those for candidates that there will not be.
bool regularised::change(const evolution_params& params, std::uint64_t seed) {
  const auto begin = end_of_generation() - params_.population;
  if (heard_ < begin)
    return false;
  changed_heard_ = begin;
  changed_closed_ = closed_;
  params_ = params;
  seed_ = seed;
  for (; !orders_.empty() && orders_.back().id > last_candidate(); --ordered_)
    orders_.pop_back();
  while (living_.size() > params_.population)
    living_.pop_front();
  hear();
  order_due();
  return true;
}

std::uint64_t regularised::last_candidate() const {
  return changed_heard_ + (params_.generations - changed_closed_) * params_.population;
}

void regularised::extend(std::size_t more) {
  params_.generations += more;
  order_due();
}

bool regularised::give(std::shared_ptr<const clade::genome> genome,
                       const std::string& origin) {
  if (ordered_ + gifts_.size() >= last_candidate())
    return false;
  gifts_.push_back(
      {.how = breeding::kind::given, .genome = std::move(genome), .origin = origin});
  return true;
}

void regularised::order_due() {
  while (ordered_ < std::min(last_candidate(), heard_ + params_.in_flight))
    order_next();
}

std::size_t regularised::win(random_stream& random) const {
  auto best = random.below(living_.size());
  for (std::size_t i = 1; i < params_.tournament; ++i)
    if (const auto other = random.below(living_.size());
        fitter(living_[other], living_[best]))
      best = other;
  return best;
}

void regularised::order_next() {
  breeding order{.id = ordered_ + 1,
                 .generation =
                     changed_closed_ + (ordered_ - changed_heard_) / params_.population,
                 .index = (ordered_ - changed_heard_) % params_.population,
                 .attempt = 0,
                 .how = breeding::kind::sample,
                 .parents = {}};
  ++ordered_;
  if (!gifts_.empty()) {
    order.how = breeding::kind::given;
    order.genome = std::move(gifts_.front().genome);
    order.origin = std::move(gifts_.front().origin);
    gifts_.pop_front();
  } else if (order.generation > 0) {
    auto random = derive(seed_, purpose::selection, order.generation, order.index);
    auto first = win(random);
    auto second = random.chance(params_.crossover) ? win(random) : first;
    if (fitter(living_[second], living_[first]))
      std::swap(first, second);
    order.how = breeding::kind::mutate;
    order.parents.push_back(living_[first]);
    if (first != second) {
      order.how = breeding::kind::cross;
      order.parents.push_back(living_[second]);
    }
  }
  orders_.push_back(std::move(order));
}

std::vector<individual> regularised::population() const {
  std::vector<individual> sorted(living_.begin(), living_.end());
  sort_by_fitness(sorted);
  return sorted;
}

std::optional<generation_closed> regularised::closing() const {
  if (finished() || heard_ < end_of_generation())
    return std::nullopt;
  generation_closed closed{.generation = closed_, .survivors = {}};
  for (const auto& i : population())
    closed.survivors.push_back(i.id);
  return closed;
}

void regularised::close() {
  ++closed_;
  hear();
}

bool regularised::finished() const {
  return closed_ == params_.generations;
}

} // namespace clade
