#include "engine/search/bases/steady.hpp"

#include "engine/search/core/known_points.hpp"

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

void steady::take(const individual& evaluated) {
  hear(evaluated);
  order_due();
}

// Results that were told and not heard are kept, and so are orders, which never change;
// but not those for candidates that there will not be.
bool steady::change(const evolution_params& params, std::uint64_t seed) {
  if (heard() < heard_before())
    return false;
  go_on_with(params);
  seed_ = seed;
  for (; !orders_.empty() && orders_.back().id > last_candidate(); --ordered_)
    orders_.pop_back();
  changed();
  take_due();
  order_due();
  return true;
}

void steady::extend(std::size_t more) {
  turns::extend(more);
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
  while (ordered_ < std::min(last_candidate(), heard() + params().in_flight)
         && may_order())
    order_next();
}

void steady::order_next() {
  breeding order{.id = ++ordered_};
  place(order);
  if (!gifts_.empty()) {
    order.how = breeding::kind::given;
    order.genome = std::move(gifts_.front().genome);
    order.origin = std::move(gifts_.front().origin);
    gifts_.pop_front();
  } else {
    const auto& points = points_of(params());
    const bool point_left = points_begun_ < points.size();
    // A strategy without rungs must not have chosen in vain. One with rungs may choose a
    // training to go on, which comes first.
    if (!point_left || !params().rungs.empty())
      choose(order);
    if (point_left && order.how != breeding::kind::train_on)
      begin_at(order, points[points_begun_++]);
    inherit_weights(params(), order);
  }
  orders_.push_back(std::move(order));
}

} // namespace clade
