#include "tools/views/metrics/prometheus_text.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace clade {

namespace {

using labels = std::map<std::string, std::string>;

template<class Number>
double number(Number n) {
  return static_cast<double>(n);
}

/// Metrics of one scrape: their values are those of the run, so none lives longer.
class scrape {
public:
  auto& gauges(const std::string& name, const std::string& help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
  }
  auto& counters(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  }
  void gauge(const std::string& name, const std::string& help, double value) {
    gauges(name, help).Add({}, value);
  }
  void counter(const std::string& name, const std::string& help, double value) {
    counters(name, help).Add({}).Increment(value);
  }
  [[nodiscard]] std::string text() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

private:
  prometheus::Registry registry_;
};

void add_candidates(scrape& all, const run_picture& p) {
  all.counter("clade_records_total", "Records of the run.", number(p.sequence));
  all.counter("clade_candidates_total", "Candidates born.", number(p.born));
  auto& outcomes = all.counters("clade_evaluations_total",
                                "Candidates evaluated, by what became of them.");
  // All of them from the start: a rate needs the zero that it rises from.
  for (auto o = outcome::succeeded; o <= outcome::dropped;
       o = static_cast<outcome>(static_cast<int>(o) + 1)) {
    const auto found = p.outcomes.find(o);
    outcomes.Add({{"outcome", to_text(o)}})
        .Increment(found == p.outcomes.end() ? 0 : number(found->second));
  }
  all.counter("clade_failed_total", "Candidates evaluated that have no fitness.",
              number(p.failed));
  all.counter("clade_training_seconds_total",
              "Time inside training and evaluation, over all slots.", p.training_seconds);
  all.gauge("clade_open_candidates", "Candidates born and not evaluated.",
            number(p.open.size()));
  const auto& plan = p.rules.evolution;
  all.gauge("clade_planned_candidates", "Candidates after which the search ends.",
            number(plan.population * plan.generations));
}

void add_fitness(scrape& all, const run_picture& p) {
  all.gauge("clade_generation", "The latest generation with a candidate, from 0.",
            number(p.generation));
  const labels metric{{"metric", p.rules.objective.metric},
                      {"goal", p.rules.objective.maximize ? "maximize" : "minimize"}};
  if (!p.best.empty() && p.best.front().fitness)
    all.gauges("clade_best_fitness", "The objective's metric of the fittest so far.")
        .Add(metric, *p.best.front().fitness);
  if (!p.generations.empty() && p.generations.back().summary.best != 0) {
    const auto& last = p.generations.back().summary;
    auto& statistics =
        all.gauges("clade_generation_fitness",
                   "The objective's metric over the generation that was closed last.");
    const auto add = [&](const char* statistic, double value) {
      auto with = metric;
      with["statistic"] = statistic;
      statistics.Add(with, value);
    };
    add("best", last.best_fitness);
    add("median", last.median_fitness);
    add("lower", last.lower_quartile);
    add("upper", last.upper_quartile);
  }
}

/// Adds the front of a run with several objectives.
void add_front(scrape& all, const run_picture& p) {
  if (p.rules.objective.others.empty() || p.generations.empty())
    return;
  const auto& last = p.generations.back().summary.front;
  all.gauge("clade_front_candidates",
            "Candidates that none dominates, of all generations that were closed.",
            number(last.members));
  if (last.members != 0)
    all.gauge("clade_hypervolume",
              "What the front dominates, in units of the first generation's extent.",
              last.hypervolume);
}

const char* state_of(const slot_view& slot) {
  if (slot.away)
    return "away";
  if (slot.quarantined.count() > 0)
    return "quarantined";
  if (!slot.ready)
    return "starting";
  return slot.training == 0 ? "idle" : "busy";
}

void add_slots(scrape& all, const slots_view& slots) {
  std::map<std::string, std::uint64_t> counts{
      {"busy", 0}, {"idle", 0}, {"starting", 0}, {"away", 0}, {"quarantined", 0}};
  for (const auto& slot : slots.slots)
    ++counts[state_of(slot)];
  auto& states = all.gauges("clade_slots", "Slots, by what they do at present.");
  for (const auto& [name, count] : counts)
    states.Add({{"state", name}}, number(count));
  all.gauge("clade_waiting_candidates", "Candidates that no slot has yet.",
            number(slots.waiting));
  if (slots.failures.empty())
    return;
  auto& failures = all.counters("clade_slot_failures_total",
                                "Attempts that were lost on a slot in this session.");
  for (const auto& f : slots.failures)
    failures.Add({{"slot", f.slot}}).Increment(number(f.count));
}

} // namespace

std::string metrics_text(const feed& from) {
  const auto& p = from.picture();
  scrape all;
  all.gauges("clade_run", "1, with what the run is.")
      .Add({{"name", from.name()},
            {"showing", to_text(from.showing())},
            {"state", to_text(p.state)},
            {"version", p.version}},
           1);
  if (p.sequence > 0)
    all.gauge("clade_last_record_timestamp_seconds",
              "When the latest record was made, since 1970.", number(p.unix_ms) / 1000);
  add_candidates(all, p);
  add_fitness(all, p);
  add_front(all, p);
  add_slots(all, from.slots());
  return all.text();
}

} // namespace clade
