// The order by score among one user's entries does not depend on the user's share: each
// user has a list in that order, and the next entry of all is the best of the lists'
// first ones. Shares change with what begins, and only that.
#include "engine/queue/next_entries.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace clade {

namespace {

constexpr auto never = std::numeric_limits<std::int64_t>::max();
/// How much of a step of priority a user's whole share weighs.
constexpr double share_weight = 0.5;

using slot_list = std::vector<const queue_slot*>;

struct machine {
  std::string_view name;
  slot_list slots, free;
};

slot_list serving(const slot_list& slots, const queue_submission& what) {
  slot_list found;
  std::ranges::copy_if(slots, std::back_inserter(found),
                       [&](const auto* s) { return serves(*s, what); });
  return found;
}

std::size_t count_of(const slot_list& slots, const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::ranges::count_if(slots, [&](const auto* s) {
    return std::ranges::find(names, s->name) != names.end();
  }));
}

/// The slots that the first entry that waits will have: what others leave it.
struct reservation {
  const queue_submission* waits = nullptr; ///< None waits.
  const machine* on = nullptr;             ///< The machine on which it will have them.
  std::int64_t begins_ms = never;          ///< At the latest; `never`: nobody knows.
  std::size_t spare = 0; ///< The slots of its kind that it does not need when it begins.
};

class round {
public:
  round(const queue_state& state, const queue_rules& rules, const queue_slots& slots,
        std::int64_t now, const entry_times& ran)
      : state_(state),
        rules_(rules),
        slots_(slots),
        ran_(ran),
        now_(now) {
    std::set<std::string> taken;
    for (const auto id : state.running) {
      const auto& e = state.entries.at(id);
      taken.insert(e.slots.begin(), e.slots.end());
      hold(e.what);
      use_[e.what.user] += use_of_running(e, rules.half_life, now);
    }
    for (const auto& s : slots.all) {
      if (machines_.empty() || machines_.back().name != machine_of(s.name))
        machines_.push_back({.name = machine_of(s.name), .slots = {}, .free = {}});
      machines_.back().slots.push_back(&s);
      if (!taken.contains(s.name)) {
        machines_.back().free.push_back(&s);
        ++free_;
      }
    }
    for (const auto& [user, use] : state.use)
      use_[user] += use_at(use, rules.half_life, now);
    all_use_ = 0; // With what the loops above added.
    for (const auto& [_, use] : use_)
      all_use_ += use;
  }

  next_entries decide() {
    auto lists = ordered_by_user();
    while (!lists.empty() && (free_ > 0 || first_.waits == nullptr)) {
      const auto next = best_of(lists);
      const auto id = next->second.back();
      next->second.pop_back();
      place(id);
      if (next->second.empty())
        lists.erase(next);
    }
    return std::move(found_);
  }

private:
  using lists_by_user = std::map<std::string, std::vector<entry_id>>;

  /// All of the score but the user's share.
  [[nodiscard]] double own_score(const queue_entry& e) const {
    const auto waited = static_cast<double>(now_ - e.submitted_ms) / 1000;
    return static_cast<double>(e.what.priority)
           + waited / static_cast<double>(rules_.ageing.count());
  }

  /// Its use in advance counts from now on.
  void hold(const queue_submission& what) {
    held_[what.user] += what.slots;
    const auto advance =
        static_cast<double>(what.slots) * static_cast<double>(rules_.advance.count());
    use_[what.user] += advance;
    all_use_ += advance;
  }

  [[nodiscard]] double share_of(const std::string& user) const {
    const auto own = use_.find(user);
    return own == use_.end() || all_use_ <= 0 ? 0 : own->second / all_use_;
  }

  /// The best last.
  [[nodiscard]] lists_by_user ordered_by_user() const {
    std::map<std::string, std::vector<std::pair<double, entry_id>>> scored;
    for (const auto id : state_.waiting) {
      const auto& e = state_.entries.at(id);
      if (is_ready(state_, e))
        scored[e.what.user].emplace_back(-own_score(e), id);
    }
    lists_by_user lists;
    for (auto& [user, all] : scored) {
      std::ranges::sort(all, std::greater{});
      auto& list = lists[user];
      for (const auto& [_, id] : all)
        list.push_back(id);
    }
    return lists;
  }

  lists_by_user::iterator best_of(lists_by_user& lists) const {
    return std::ranges::min_element(lists, {}, [&](const auto& one) {
      const auto id = one.second.back();
      const auto share = share_weight * share_of(one.first);
      return std::tuple(share - own_score(state_.entries.at(id)), id);
    });
  }

  void place(entry_id id) {
    const auto& e = state_.entries.at(id);
    if (const auto quota = rules_.quota_of(e.what.user);
        quota != 0 && held_[e.what.user] + e.what.slots > quota)
      return;
    const auto possible = machines_for(e);
    machine* best = nullptr;
    slot_list best_slots;
    for (auto* m : possible)
      if (auto its = choose(*m, e.what);
          its.size() >= e.what.slots
          && (best == nullptr || its.size() < best_slots.size())) {
        best = m;
        best_slots = std::move(its);
      }
    best_slots.resize(best == nullptr ? 0 : e.what.slots);
    if (best != nullptr)
      start(id, e.what, *best, best_slots);
    else if (first_.waits == nullptr)
      wait_for(id, e.what, possible);
  }

  /// Returns the machines that have, or had, enough slots, free or not; the one where the
  /// entry is at home alone, if it is there.
  [[nodiscard]] std::vector<machine*> machines_for(const queue_entry& e) {
    std::vector<machine*> possible;
    const auto home = home_of(e);
    for (auto& m : machines_)
      if (serving(m.slots, e.what).size() >= e.what.slots) {
        if (home == m.name)
          return {&m};
        possible.push_back(&m);
      }
    if (home && slots_.awaited.contains(*home))
      return {};
    return possible;
  }

  /// The slots that the entry may have there now: first those that nobody waits for.
  [[nodiscard]] slot_list choose(const machine& m, const queue_submission& what) const {
    slot_list chosen, waited_for;
    for (const auto* s : serving(m.free, what))
      (is_waited_for(m, *s) ? waited_for : chosen).push_back(s);
    const auto most = ends_before_first(what) ? waited_for.size()
                                              : std::min(first_.spare, waited_for.size());
    chosen.insert(chosen.end(), waited_for.begin(),
                  waited_for.begin() + static_cast<std::ptrdiff_t>(most));
    return chosen;
  }

  [[nodiscard]] bool is_waited_for(const machine& m, const queue_slot& s) const {
    return first_.waits != nullptr && first_.on == &m && serves(s, *first_.waits);
  }

  [[nodiscard]] bool ends_before_first(const queue_submission& what) const {
    return first_.begins_ms != never && end_of_time(what, now_) <= first_.begins_ms;
  }

  void start(entry_id id, const queue_submission& what, machine& on,
             const slot_list& chosen) {
    next_entries::start one{.id = id, .slots = {}};
    std::size_t of_those_waited_for = 0;
    for (const auto* s : chosen) {
      one.slots.push_back(s->name);
      std::erase(on.free, s);
      --free_;
      if (is_waited_for(on, *s))
        ++of_those_waited_for;
    }
    if (!ends_before_first(what))
      first_.spare -= std::min(first_.spare, of_those_waited_for);
    hold(what);
    found_.starts.push_back(std::move(one));
  }

  /// When each slot of its kind comes free there, in that order; those that are free come
  /// first.
  [[nodiscard]] std::vector<std::int64_t> ends_for(const queue_submission& what,
                                                   const machine& m) const {
    std::vector<std::int64_t> ends(serving(m.free, what).size(), now_);
    const auto its = serving(m.slots, what);
    const auto add = [&](const std::vector<std::string>& names, std::int64_t end) {
      ends.insert(ends.end(), count_of(its, names), end);
    };
    for (const auto id : state_.running) {
      const auto& e = state_.entries.at(id);
      add(e.slots, e.stopping ? now_ : end_of_time(e.what, start_of(id, e)));
    }
    for (const auto& s : found_.starts)
      add(s.slots, end_of_time(state_.entries.at(s.id).what, now_));
    std::ranges::sort(ends);
    return ends;
  }

  /// When a running entry began, by the clock as it is now.
  [[nodiscard]] std::int64_t start_of(entry_id id, const queue_entry& e) const {
    const auto known = ran_.find(id);
    return known == ran_.end() ? e.started_ms : now_ - known->second.count();
  }

  /// An entry that has used its time is told so in the same step.
  [[nodiscard]] std::int64_t end_of_time(const queue_submission& what,
                                         std::int64_t started) const {
    return what.time.count() == 0
               ? never
               : std::max(now_, started + std::chrono::milliseconds(what.time).count());
  }

  void wait_for(entry_id id, const queue_submission& what,
                std::vector<machine*> possible) {
    if (possible.empty())
      return; // No machine has so many.
    const auto begins = [&](const machine* m) {
      return ends_for(what, *m)[what.slots - 1];
    };
    std::ranges::stable_sort(possible, {}, [&](const machine* m) {
      return std::pair(begins(m),
                       -static_cast<std::ptrdiff_t>(serving(m->free, what).size()));
    });
    const auto makes_room = std::ranges::find_if(
        possible, [&](const machine* m) { return make_room(id, what, *m); });
    const auto* on = makes_room == possible.end() ? possible.front() : *makes_room;
    const auto ends = ends_for(what, *on);
    first_ = {.waits = &what, .on = on, .begins_ms = ends[what.slots - 1]};
    // If nobody knows when it begins, nothing is spare: else new entries could take turns
    // with what it waits for.
    if (first_.begins_ms != never)
      first_.spare = static_cast<std::size_t>(
                         std::ranges::upper_bound(ends, first_.begins_ms) - ends.begin())
                     - what.slots;
  }

  /// Finds whom to stop there for the entry; nobody, and false, where that would not be
  /// enough.
  bool make_room(entry_id id, const queue_submission& what, const machine& m) {
    const auto its = serving(m.slots, what);
    const auto had_by = [&](entry_id running) {
      return count_of(its, state_.entries.at(running).slots);
    };
    auto room = serving(m.free, what).size();
    std::vector<entry_id> lower;
    for (const auto running : state_.running)
      if (state_.entries.at(running).stopping)
        room += had_by(running);
      else if (comes_before(id, running) && had_by(running) > 0)
        lower.push_back(running);
    std::ranges::sort(lower, {}, [&](entry_id one) {
      const auto& e = state_.entries.at(one);
      return std::tuple(e.what.priority, -e.started_ms, -static_cast<std::int64_t>(one));
    });
    std::vector<next_entries::stop> stops;
    for (const auto one : lower) {
      if (room >= what.slots)
        break;
      room += had_by(one);
      stops.push_back({.id = one, .for_the_sake_of = id});
    }
    if (room < what.slots)
      return false;
    found_.stops = std::move(stops);
    return true;
  }

  /// Whether the one that runs is to make room for the one that waits, whatever the use of
  /// their users comes to be.
  [[nodiscard]] bool comes_before(entry_id waits, entry_id runs) const {
    const auto &w = state_.entries.at(waits), &r = state_.entries.at(runs);
    const auto margin = w.what.user == r.what.user ? 0 : share_weight;
    return is_preemptible(r.what) && w.what.priority > r.what.priority
           && own_score(w) - own_score(r) > margin;
  }

  const queue_state& state_;
  const queue_rules& rules_;
  const queue_slots& slots_;
  const entry_times& ran_;
  std::int64_t now_;
  std::vector<machine> machines_;
  std::size_t free_ = 0;
  std::map<std::string, std::uint32_t> held_; ///< Slots, by user.
  std::map<std::string, double> use_;
  double all_use_ = 0;
  reservation first_;
  next_entries found_;
};

} // namespace

bool serves(const queue_slot& slot, const queue_submission& what) {
  return what.device.empty() || what.device == slot.device;
}

next_entries find_next(const queue_state& state, const queue_rules& rules,
                       const queue_slots& slots, std::int64_t unix_ms,
                       const entry_times& ran) {
  return round(state, rules, slots, unix_ms, ran).decide();
}

std::size_t most_together(const queue_slots& slots, const queue_submission& what) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t most = 0;
  for (const auto& s : slots.all)
    if (serves(s, what))
      most = std::max(most, ++counts[machine_of(s.name)]);
  return most;
}

std::string note_on(const queue_state& state, const queue_rules& rules,
                    const queue_slots& slots, entry_id id, entry_id by) {
  const auto& e = state.entries.at(id);
  const auto name = numbered(id);
  if (!is_waiting(e.state))
    return "";
  if (const auto most = most_together(slots, e.what); most < e.what.slots)
    return fmt::format(
        "{} wants {}{}: it waits for one that has", name,
        slots_in_words(e.what.slots, e.what.device),
        most == 0 ? ", and no machine that is there has such a slot"
                  : fmt::format(", and no machine that is there has more than {}", most));
  const auto quota = rules.quota_of(e.what.user);
  const auto parent = state.entries.find(by);
  if (quota == 0 || parent == state.entries.end()
      || parent->second.what.slots + e.what.slots <= quota)
    return "";
  const auto its = numbered(by);
  return fmt::format("{} begins when {} has ended, which submits it: {} may have {} at a "
                     "time; if {} waits for it, both wait for ever",
                     name, its, e.what.user, slots_in_words(quota), its);
}

std::string why_waiting(const queue_state& state, const queue_rules& rules,
                        const queue_slots& slots, entry_id id) {
  const auto& e = state.entries.at(id);
  for (const auto before : e.what.after)
    if (state.entries.at(before).state != entry_state::succeeded)
      return fmt::format("waits for #{}", before);
  if (!slots.trouble.empty())
    return slots.trouble;
  const auto wanted = slots_in_words(e.what.slots, e.what.device);
  const auto most = most_together(slots, e.what);
  if (most == 0)
    return "waits for a machine with " + wanted;
  if (most < e.what.slots)
    return fmt::format("wants {}, and no machine that is there has more than {}", wanted,
                       most);
  const auto quota = rules.quota_of(e.what.user);
  std::uint32_t held = 0;
  for (const auto running : state.running)
    if (const auto& r = state.entries.at(running); r.what.user == e.what.user)
      held += r.what.slots;
  if (quota != 0 && held + e.what.slots > quota)
    return fmt::format("{} may have {} and has {}", e.what.user, slots_in_words(quota),
                       held);
  return "waits for " + wanted;
}

} // namespace clade
