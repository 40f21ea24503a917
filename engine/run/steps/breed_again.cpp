// Births are handed to threads in batches, so that a lock costs little beside breeding.
// The caller keeps a deque of all batches in the order of births and takes them from its
// front as they are done.
#include "engine/run/steps/breed_again.hpp"

#include "engine/run/steps/next_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace clade {

namespace {

constexpr std::size_t births_at_once = 64;
constexpr std::size_t batches_under_way = 64;

/// The first line in which two texts differ, of each.
std::pair<std::string, std::string> first_lines(const std::string& a,
                                                const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  for (;;) {
    std::string one, other;
    const bool more = static_cast<bool>(std::getline(of_a, one));
    const bool more_other = static_cast<bool>(std::getline(of_b, other));
    if (one != other || (!more && !more_other))
      return {one, other};
  }
}

std::string ids_text(const std::vector<candidate_id>& ids) {
  std::string text;
  for (const auto id : ids)
    text += fmt::format("{}{}", text.empty() ? "#" : " #", id);
  return text.empty() ? "none" : text;
}

std::string scores_text(const candidate& c) {
  const auto own = std::ranges::find(c.looked_at, c.zero_cost);
  const auto count = std::to_string(c.looked_at.size());
  return own == c.looked_at.end()
             ? fmt::format("none of the {} that were looked at", count)
             : fmt::format("number {} of the {} that were looked at",
                           own - c.looked_at.begin() + 1, count);
}

std::optional<difference> compare(const rebirth& birth, const candidate& made) {
  const auto& stored = birth.stored;
  const auto differ = [&](const std::string& what, const std::string& a,
                          const std::string& b) {
    return difference{.sequence = birth.sequence,
                      .record = to_text(record{candidate_born{stored}}),
                      .stored = what + a,
                      .made = what + b};
  };
  if (!(*made.genome == *stored.genome)) {
    const auto [a, b] = first_lines(to_text(*stored.genome), to_text(*made.genome));
    if (a == b)
      return differ("genes that its drawing does not show: ", "some", "others");
    return differ("genes: ", a, b);
  }
  if (made.parents != stored.parents)
    return differ("parents ", ids_text(stored.parents), ids_text(made.parents));
  if (made.network != stored.network)
    return differ("network ", to_text(stored.network), to_text(made.network));
  if (made.zero_cost != stored.zero_cost || made.looked_at != stored.looked_at)
    return differ("zero-cost scores: ", scores_text(stored), scores_text(made));
  const auto told = to_text(stored.changes), made_so = to_text(made.changes);
  if (made_so != told)
    return differ("origin: ", told, made_so);
  if (made.work != stored.work)
    return differ("work ", to_text(value{stored.work}), to_text(value{made.work}));
  return std::nullopt;
}

reborn make_again(const rebirth& birth, const replay_rules& rules) {
  reborn result{.sequence = birth.sequence, .id = birth.stored.id};
  auto order = birth.order;
  const auto fails = [&](const std::string& stored, const std::string& made) {
    result.unequal = difference{.sequence = birth.sequence,
                                .record = to_text(record{candidate_born{birth.stored}}),
                                .stored = stored,
                                .made = made};
    return result;
  };
  if (birth.stored.attempt >= max_breeding_attempts)
    return fails(fmt::format("attempt {}", birth.stored.attempt),
                 fmt::format("at most attempt {}", max_breeding_attempts - 1));
  if (birth.stored.equal_to != 0 && birth.stored.attempt + 1 < max_breeding_attempts
      && birth.order.how != breeding::kind::given
      && birth.order.how != breeding::kind::train_on)
    return fails(
        fmt::format("attempt {}, though its network was known", birth.stored.attempt),
        "another attempt");
  recorded_scores scores(birth.stored.looked_at);
  for (order.attempt = 0;; ++order.attempt) {
    auto made = breed_and_count({rules.space, rules.problem,
                                 rules.fold.evolution.mutation, rules.fold.seed,
                                 rules.fold.evolution.zero_cost ? &scores : nullptr},
                                order);
    if (!made)
      return fails("a network", made.error().message);
    if (order.attempt == birth.stored.attempt) {
      result.parameters = made->parameters;
      result.unequal = compare(birth, made->made);
      return result;
    }
    result.rejected.push_back(training_of(made->made));
    order.looked_at = std::move(made->made.looked_at);
  }
}

} // namespace

rechecker::rechecker(std::size_t threads) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { work(); });
}

rechecker::~rechecker() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (auto& t : threads_)
    t.join();
}

void rechecker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_)
      return;
    const auto mine = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    for (const auto& birth : mine->births)
      mine->results.push_back(make_again(birth, *mine->rules));
    mine->births.clear(); // Genomes of the dead are held by nobody.
    lock.lock();
    mine->done = true;
    changed_.notify_all();
  }
}

void rechecker::add(rebirth birth, const std::shared_ptr<const replay_rules>& rules) {
  if (filling_ && filling_->rules != rules)
    send();
  if (!filling_) {
    filling_ = std::make_shared<batch>();
    filling_->rules = rules;
  }
  filling_->births.push_back(std::move(birth));
  if (filling_->births.size() == births_at_once)
    send();
}

void rechecker::send() {
  if (!filling_)
    return;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(filling_);
    under_way_.push_back(std::move(filling_));
  }
  filling_.reset();
  changed_.notify_all();
}

std::vector<reborn> rechecker::take(bool all) {
  if (all)
    send();
  std::vector<reborn> taken;
  std::unique_lock lock(mutex_);
  while (!under_way_.empty()) {
    const auto first = under_way_.front();
    if (all || under_way_.size() > batches_under_way)
      changed_.wait(lock, [&] { return first->done; });
    if (!first->done)
      break;
    taken.insert(taken.end(), std::make_move_iterator(first->results.begin()),
                 std::make_move_iterator(first->results.end()));
    under_way_.pop_front();
  }
  return taken;
}

} // namespace clade
