#include "engine/search/bases/generations.hpp"

#include "engine/search/core/known_points.hpp"
#include "engine/search/core/selection.hpp"

#include <algorithm>

namespace clade {

std::vector<breeding> generations::ask(candidate_id beyond, std::size_t limit) const {
  std::vector<breeding> orders;
  if (finished())
    return orders;
  const auto last = before() + params_.population;
  for (auto id = std::max(born_, beyond) + 1; id <= last && orders.size() < limit; ++id) {
    breeding order{.id = id,
                   .generation = generation_,
                   .index = id - 1 - before(),
                   .attempt = 0,
                   .how = breeding::kind::sample,
                   .parents = {}};
    if (const auto gift = given_.find(id); gift != given_.end()) {
      order.how = breeding::kind::given;
      order.genome = gift->second.genome;
      order.origin = gift->second.origin;
    } else {
      choose_parents(order);
      inherit_weights(params_, order);
      if (generation_ == 0 && order.index < points_of(params_).size())
        begin_at(order, points_of(params_)[order.index]);
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

void generations::born(const candidate&) {
  ++born_;
}

void generations::tell(const individual& evaluated) {
  children_.push_back(evaluated);
}

// All candidates of the generation in progress may be asked for already.
bool generations::give(std::shared_ptr<const clade::genome> genome,
                       const std::string& origin) {
  const auto first = before() + params_.population + 1;
  const auto place = given_.empty() ? first : std::max(first, given_.rbegin()->first + 1);
  const auto left = params_.generations - generation_ - 1;
  if (finished() || place >= first + left * params_.population)
    return false;
  given_.emplace(place, gift{std::move(genome), origin});
  return true;
}

bool generations::begin_with(std::shared_ptr<const clade::genome> genome,
                             const std::string& origin) {
  return born_ == 0 && given_.emplace(1, gift{std::move(genome), origin}).second;
}

std::uint64_t generations::before() const {
  return changed_born_ + (generation_ - changed_generation_) * params_.population;
}

std::uint64_t generations::given_before(candidate_id id) const {
  return std::min<std::uint64_t>(id - 1, points_of(params_).size()) + given_and_closed_
         + static_cast<std::uint64_t>(
             std::distance(given_.begin(), given_.lower_bound(id)));
}

bool generations::change(const evolution_params& params, std::uint64_t seed) {
  if (born_ != before())
    return false;
  changed_generation_ = generation_;
  changed_born_ = born_;
  params_ = params;
  seed_ = seed;
  return true;
}

bool generations::complete() const {
  return !finished() && children_.size() == params_.population;
}

// The failed are of use only where all failed.
std::vector<individual> generations::pool() const {
  auto pool = children_;
  const auto stay = std::min(staying(), survivors_.size());
  pool.insert(pool.end(), survivors_.begin(),
              survivors_.begin() + static_cast<std::ptrdiff_t>(stay));
  sort_by_use(pool);
  return pool;
}

std::vector<individual> generations::select() const {
  auto selected = pool();
  if (selected.size() > surviving())
    selected.resize(surviving());
  return selected;
}

std::optional<generation_closed> generations::closing() const {
  if (!complete())
    return std::nullopt;
  generation_closed closed{.generation = generation_, .survivors = {}};
  for (const auto& i : select())
    closed.survivors.push_back(i.id);
  return closed;
}

void generations::close() {
  survivors_ = select();
  children_.clear();
  ++generation_;
  const auto closed = given_.upper_bound(before());
  given_and_closed_ += static_cast<std::uint64_t>(std::distance(given_.begin(), closed));
  given_.erase(given_.begin(), closed);
}

bool generations::finished() const {
  return generation_ == params_.generations;
}

} // namespace clade
