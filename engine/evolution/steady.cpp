#include "engine/evolution/steady.hpp"

#include <algorithm>

namespace clade {

std::vector<breeding> steady::ask(candidate_id beyond, std::size_t limit) const {
  std::vector<breeding> orders;
  for (const auto& order : orders_) {
    if (orders.size() == limit)
      break;
    if (order.id > beyond)
      orders.push_back(order);
  }
  return orders;
}

void steady::born(const candidate& c) {
  orders_.pop_front();
  bear(c);
  order_due();
}

void steady::tell(const individual& evaluated) {
  ++arrived_;
  told_.emplace(params_.tell_order == "asked" ? evaluated.id : arrived_, evaluated);
  hear_due();
}

// Results of the next generation are left alone until this one is closed: the survivors
// that the closing names must not depend on how many of those have come.
void steady::hear_due() {
  while (heard_ < end_of_generation()) {
    const auto next = told_.find(heard_ + 1);
    if (next == told_.end())
      return;
    ++heard_;
    hear(next->second);
    told_.erase(next);
    order_due();
  }
}

std::uint64_t steady::end_of_generation() const {
  return changed_heard_ + (closed_ + 1 - changed_closed_) * params_.population;
}

// What was told and not heard is kept, and so are orders, which never change; but not
// those for candidates that there will not be.
bool steady::change(const evolution_params& params, std::uint64_t seed) {
  const auto begin = end_of_generation() - params_.population;
  if (heard_ < begin)
    return false;
  changed_heard_ = begin;
  changed_closed_ = closed_;
  params_ = params;
  seed_ = seed;
  for (; !orders_.empty() && orders_.back().id > last_candidate(); --ordered_)
    orders_.pop_back();
  changed();
  hear_due();
  order_due();
  return true;
}

std::uint64_t steady::last_candidate() const {
  return changed_heard_ + (params_.generations - changed_closed_) * params_.population;
}

void steady::extend(std::size_t more) {
  params_.generations += more;
  order_due();
}

bool steady::give(std::shared_ptr<const clade::genome> genome,
                  const std::string& origin) {
  if (ordered_ + gifts_.size() >= last_candidate())
    return false;
  gifts_.push_back(
      {.how = breeding::kind::given, .genome = std::move(genome), .origin = origin});
  return true;
}

void steady::order_due() {
  while (ordered_ < std::min(last_candidate(), heard_ + params_.in_flight) && may_order())
    order_next();
}

void steady::order_next() {
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
  } else {
    choose(order);
    inherit_weights(params_, order);
  }
  orders_.push_back(std::move(order));
}

std::optional<generation_closed> steady::closing() const {
  if (finished() || heard_ < end_of_generation())
    return std::nullopt;
  generation_closed closed{.generation = closed_, .survivors = {}};
  for (const auto& i : population())
    closed.survivors.push_back(i.id);
  return closed;
}

void steady::close() {
  ++closed_;
  hear_due();
}

bool steady::finished() const {
  return closed_ == params_.generations;
}

} // namespace clade
