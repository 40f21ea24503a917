// Each record is folded in as resume would; what the fold itself does not make again is
// checked around it: that a copy is one, that measured values agree with each other, who
// is tested at the end, and, in other threads and a little later, what was bred. That a
// rejected network was known at the time is looked up when its breeding is taken back:
// the table gives the oldest candidate with a network, and nothing ever leaves it.
//
// The candidates that are bred come back later than those that are folded, so that a
// difference of the fold is the first one only once everything under way is taken.
#include "engine/run/steps/verify.hpp"

#include "engine/run/steps/breed_again.hpp"
#include "engine/run/steps/next_step.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

template<class Ids>
std::string ids_text(const Ids& ids) {
  const std::string text = joined(ids, " ", numbered);
  return text.empty() ? "none" : text;
}

/// Returns the fingerprint of the parts that a copy has in common with its original.
std::uint64_t fingerprint(const evaluation& e) {
  auto common = copy_for(0, e);
  common.equal_to = 0;
  encoder out;
  encode(out, common);
  return hash64(out.take());
}

/// Stored, and made again.
struct sides {
  std::string stored, made;
};

std::optional<sides> compare_places(const candidate& c, const breeding& order) {
  const auto place = [](const auto& one) {
    return fmt::format("{} generation {} index {}", numbered(one.id), one.generation,
                       one.index);
  };
  if (place(c) != place(order))
    return sides{place(c), place(order)};
  std::vector<candidate_id> parents;
  for (const auto& p : order.parents)
    parents.push_back(p.id);
  if (!may_be_parents(order, c.parents))
    return sides{"parents " + ids_text(c.parents), "parents " + ids_text(parents)};
  return std::nullopt;
}

/// The costs of a network are measured once, and not at each epoch.
std::vector<metric> without_costs(std::vector<metric> metrics) {
  std::erase_if(metrics, [](const metric& m) {
    return m.name == multiply_adds_metric || m.name == latency_metric;
  });
  return metrics;
}

/// Compares the parts of an evaluation that must agree with each other.
std::optional<sides> compare_measured(const evaluation& e) {
  if ((e.outcome == outcome::succeeded) == e.metrics.empty())
    return sides{fmt::format("{}{} metrics", to_text(e.outcome),
                             e.metrics.empty() ? " without" : " with"),
                 "metrics of what succeeded, and of nothing else"};
  if (e.metrics.empty() || e.curve.empty())
    return std::nullopt;
  if (std::ranges::find(e.curve, without_costs(e.metrics), &epoch::metrics)
      == e.curve.end())
    return sides{to_text(e), "the metrics of one of its epochs"};
  return std::nullopt;
}

} // namespace

struct verifier::impl {
  impl(rules_reader r, std::size_t threads) : read(std::move(r)), again(threads) {}

  rules_reader read;
  std::shared_ptr<const replay_rules> rules;
  run_state state;
  verification result;
  /// By id - 1; of a copy nothing is copied.
  std::vector<std::uint64_t> fingerprints;
  /// By id - 1, of what was bred again; and what is stored of those that were not yet.
  std::vector<std::uint64_t> parameters;
  struct counted {
    std::uint64_t sequence = 0, parameters = 0;
  };
  std::map<candidate_id, counted> stored_counts;
  rechecker again; // The last: its threads end first.

  void differs(std::uint64_t sequence, const record& r, const sides& s) {
    result.first = difference{sequence, to_text(r), s.stored, s.made};
  }

  /// A difference that was found before replaces one that comes later.
  void take_bred(bool all) {
    for (auto& one : again.take(all)) {
      if (result.first && result.first->sequence <= one.sequence)
        return;
      for (std::size_t k = 0; !one.unequal && k < one.rejected.size(); ++k) {
        const auto known = state.known.find(one.rejected[k]);
        if (known == 0 || known >= one.id)
          one.unequal =
              difference{.sequence = one.sequence,
                         .record = "born " + numbered(one.id),
                         .stored = fmt::format("attempt {}", one.rejected.size()),
                         .made = fmt::format("attempt {}, whose network was new", k)};
      }
      if (one.unequal) {
        result.first = std::move(one.unequal);
        return;
      }
      result.decisions.networks += one.rejected.size() + 1;
      parameters.resize(one.id);
      parameters.back() = one.parameters;
      if (const auto found = stored_counts.find(one.id); found != stored_counts.end()) {
        compare_parameters(one.id, found->second);
        stored_counts.erase(found);
      }
    }
  }

  /// An evaluation may be folded before its candidate is bred again; of all that are
  /// wrong the first is to be told.
  void compare_parameters(candidate_id id, const counted& stored) {
    const auto made = parameters[id - 1];
    if (stored.parameters == made
        || (result.first && result.first->sequence < stored.sequence))
      return;
    result.first = difference{.sequence = stored.sequence,
                              .record = "evaluated " + numbered(id),
                              .stored = fmt::format("{} parameters", stored.parameters),
                              .made = fmt::format("{} parameters", made)};
  }

  expected<void> begin(std::uint64_t sequence, const record& r,
                       const std::string& experiment, genome_hash search) {
    auto fresh = read(experiment);
    if (!fresh)
      return tl::unexpected(fresh.error());
    rules = std::make_shared<const replay_rules>(std::move(*fresh));
    if (rules->search != search)
      differs(sequence, r,
              {"the search " + to_text(search), "the search " + to_text(rules->search)});
    return {};
  }

  expected<void> prepare(std::uint64_t sequence, const record& r) {
    if (const auto* forked = std::get_if<run_forked>(&r); forked && state.started)
      return begin(sequence, r, forked->experiment, forked->search);
    const auto* started = std::get_if<run_started>(&r);
    if (started == nullptr || state.started)
      return {};
    if (auto begun = begin(sequence, r, started->experiment, started->search);
        !begun || result.first)
      return begun;
    auto fresh = make_run_state(rules->fold);
    if (!fresh)
      return tl::unexpected(fresh.error());
    state = std::move(*fresh);
    state.rules.read_fork = [this](const run_forked&) -> expected<run_rules> {
      return rules->fold;
    };
    return {};
  }

  std::optional<sides> before(const candidate_evaluated& r) {
    const auto& e = r.evaluated;
    const auto found = state.open.find(e.id);
    if (found == state.open.end())
      return std::nullopt; // The fold says so.
    const auto original = found->second.equal_to;
    if (e.equal_to != original)
      return sides{e.equal_to == 0 ? "trained" : "a copy of " + numbered(e.equal_to),
                   original == 0 ? "trained" : "a copy of " + numbered(original)};
    if (original != 0 && !state.open.contains(original)
        && fingerprints.at(original - 1) != fingerprint(e))
      return sides{to_text(e), fmt::format("what {} has", numbered(original))};
    if (fingerprints.size() < e.id)
      fingerprints.resize(e.id);
    fingerprints[e.id - 1] = fingerprint(e);
    return compare_measured(e);
  }

  std::optional<sides> before(const run_finished& r) const {
    std::vector<candidate_id> tested;
    if (!state.best.empty())
      tested.push_back(state.best.front().id);
    if (state.best_random)
      tested.push_back(state.best_random->id);
    for (const auto& e : r.examinations) {
      const auto id = e.subject == "champion" ? r.champion
                      : e.subject == "best random candidate"
                          ? (state.best_random ? state.best_random->id : 0)
                          : 0;
      if (e.id != id)
        return sides{fmt::format("{} {}", e.subject, numbered(e.id)),
                     id == 0 ? "none of " + ids_text(tested)
                             : fmt::format("{} {}", e.subject, numbered(id))};
    }
    return std::nullopt;
  }

  template<class Other>
  std::optional<sides> before(const Other&) const {
    return std::nullopt;
  }

  void count(const run_started&) { ++result.decisions.starts; }
  void count(const run_forked&) { ++result.decisions.starts; }
  void count(const candidate_born& r) {
    ++result.decisions.places;
    ++result.decisions.equals;
    result.decisions.parents += std::max<std::size_t>(r.born.parents.size(), 1);
    ++result.candidates;
  }
  void count(const candidate_evaluated& r) {
    result.decisions.copies += r.evaluated.equal_to != 0 ? 1 : 0;
  }
  void count(const final_planned&) { ++result.decisions.closings; }
  void count(const generation_closed& r) {
    ++result.decisions.closings;
    result.decisions.survivors += r.survivors.size();
  }
  void count(const run_finished& r) {
    result.decisions.ends += 1 + r.examinations.size();
  }
  template<class Observation>
  void count(const Observation&) {}

  /// Compares and folds; a birth goes on to be bred again.
  void fold(std::uint64_t sequence, const record& r) {
    const auto* birth = std::get_if<candidate_born>(&r);
    std::optional<sides> unequal;
    std::vector<breeding> asked;
    const bool bred = birth != nullptr && !state.plan;
    if (bred && state.started) {
      asked = state.search->ask(state.born, 1);
      if (!asked.empty())
        unequal = compare_places(birth->born, asked.front());
    } else if (state.started) {
      unequal = std::visit([this](const auto& one) { return before(one); }, r);
    }
    if (unequal)
      return differs(sequence, r, *unequal);
    if (auto folded = apply(state, r); !folded)
      return differs(sequence, r, {to_text(r), folded.error().message});
    std::visit([this](const auto& one) { count(one); }, r);
    if (const auto* e = std::get_if<candidate_evaluated>(&r);
        e != nullptr && e->evaluated.outcome == outcome::succeeded) {
      const auto id = e->evaluated.id;
      const counted stored{sequence, e->evaluated.parameters};
      if (id <= parameters.size())
        compare_parameters(id, stored);
      else
        stored_counts.emplace(id, stored);
    }
    if (bred)
      again.add({sequence, std::move(asked.front()), birth->born}, rules);
  }
};

verifier::verifier(rules_reader read, std::size_t threads)
    : impl_(std::make_unique<impl>(std::move(read), threads)) {}

verifier::~verifier() = default;

expected<void> verifier::take(std::uint64_t sequence, const record& r) {
  auto& v = *impl_;
  if (!v.result.first)
    if (auto prepared = v.prepare(sequence, r); !prepared)
      return prepared;
  if (!v.result.first)
    v.fold(sequence, r);
  if (!v.result.first) {
    ++v.result.records;
    v.take_bred(false);
  }
  if (v.result.first)
    return fail(error_kind::corrupt, "a decision differs");
  return {};
}

verification verifier::finish() {
  impl_->take_bred(true);
  impl_->result.digest = impl_->state.digest;
  return std::move(impl_->result);
}

} // namespace clade
