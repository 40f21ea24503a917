#include "engine/export/rows/run_history.hpp"

#include "engine/export/model/model.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <ostream>
#include <set>

namespace clade {

expected<void> for_each_trial(const store& s,
                              const std::function<expected<void>(const trial&)>& visit) {
  std::map<candidate_id, trial> open;
  auto read = s.for_each(
      [&](std::uint64_t, std::int64_t unix_ms, const record& r) -> expected<void> {
        if (const auto* b = std::get_if<candidate_born>(&r))
          open[b->born.id] = {.candidate = b->born, .evaluated = {}, .born_ms = unix_ms};
        const auto* done = std::get_if<candidate_evaluated>(&r);
        if (done == nullptr)
          return {};
        auto node = open.extract(done->evaluated.id);
        if (node.empty())
          return fail(error_kind::corrupt,
                      fmt::format("an evaluation of #{}, which was not born before",
                                  done->evaluated.id));
        node.mapped().evaluated = done->evaluated;
        node.mapped().evaluated_ms = unix_ms;
        return visit(node.mapped());
      });
  for (auto at = open.begin(); read && at != open.end(); ++at)
    read = visit(at->second);
  return read;
}

expected<experiment> read_experiment_of(const store& s,
                                        const std::filesystem::path& file) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  if (overview->experiment.empty())
    return fail(error_kind::invalid_input,
                file.string() + ": nothing is recorded of this run");
  return parse_resolved(overview->experiment, file.string());
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_safe_field(std::string_view text) {
  constexpr std::string_view beginnings = "=+-@\t\r";
  if (text.size() < 2 || beginnings.find(text.front()) == std::string_view::npos)
    return csv_field(text);
  const auto number = text.substr(text.front() == '+' ? 1 : 0);
  double v = 0;
  const auto [end, wrong] =
      std::from_chars(number.data(), number.data() + number.size(), v);
  const bool is_number =
      wrong != std::errc::invalid_argument && end == number.data() + number.size();
  return csv_field(is_number ? std::string(text) : "'" + std::string(text));
}

namespace {

expected<std::set<std::string>> metric_names(const store& s) {
  std::set<std::string> names;
  return for_each_trial(s,
                        [&](const trial& t) -> expected<void> {
                          if (t.evaluated)
                            for (const auto& m : t.evaluated->metrics)
                              names.insert(m.name);
                          return {};
                        })
      .map([&] { return std::move(names); });
}

/// The metrics on the test data by candidate, of those that met it.
using tested = std::map<candidate_id, std::vector<metric>>;

expected<tested> tests_of(const store& s) {
  const auto all = s.examinations();
  if (!all)
    return tl::unexpected(all.error());
  tested found;
  for (const auto& e : *all)
    if (e.id != 0)
      for (const auto& m : e.metrics)
        if (m.name.starts_with("test."))
          found[e.id].push_back(m);
  return found;
}

std::set<std::string> names_of(const tested& tests) {
  std::set<std::string> names;
  for (const auto& [id, metrics] : tests)
    for (const auto& m : metrics)
      names.insert(m.name);
  return names;
}

/// Returns the genome on one line.
std::string network_text(const genome& g) {
  auto text = to_text(g);
  while (text.ends_with('\n'))
    text.pop_back();
  std::string line;
  for (const char c : text)
    line += c == '\n' ? "; " : std::string(1, c);
  return line;
}

class row {
public:
  row& add(std::string_view text) {
    text_ += (first_ ? "" : ",") + csv_safe_field(text);
    first_ = false;
    return *this;
  }
  row& add(std::uint64_t n) { return add(std::to_string(n)); }
  /// 0 is none.
  row& add_id(candidate_id id) { return add(id == 0 ? "" : std::to_string(id)); }

  [[nodiscard]] std::string line() const { return text_ + "\r\n"; }

private:
  std::string text_;
  bool first_ = true;
};

} // namespace

expected<void> write_csv(const store& s, const experiment& e, std::ostream& out) {
  const auto metrics = metric_names(s);
  if (!metrics)
    return tl::unexpected(metrics.error());
  const auto tests = tests_of(s);
  if (!tests)
    return tl::unexpected(tests.error());
  const auto annotated = s.find_annotations();
  if (!annotated)
    return tl::unexpected(annotated.error());
  const auto test_names = names_of(*tests);
  row names;
  for (const char* name : {"id", "generation", "place", "outcome", "parameters", "epochs",
                           "seconds", "slot", "tries", "born_ms", "evaluated_ms",
                           "parents", "equal_to", "origin", "reason", "tags", "note"})
    names.add(name);
  for (const auto& name : *metrics)
    names.add(name);
  for (const auto& name : test_names)
    names.add(name);
  for (const auto& h : e.space.rules.hyperparameters)
    names.add(h.name);
  names.add("network");
  out << names.line();
  return for_each_trial(s, [&](const trial& t) -> expected<void> {
    if (!t.evaluated)
      return {};
    const auto& c = t.candidate;
    const auto& done = *t.evaluated;
    row r;
    r.add(c.id).add(c.generation).add(c.index).add(to_text(done.outcome));
    r.add(done.parameters).add(done.curve.size()).add(literal(done.seconds));
    r.add(done.slot).add(done.tries);
    r.add(std::to_string(t.born_ms)).add(std::to_string(t.evaluated_ms));
    r.add(joined(c.parents, " "))
        .add_id(done.equal_to)
        .add(to_text(c.changes))
        .add(done.reason);
    const auto written = annotated->find(c.id);
    const auto& wrote = written == annotated->end() ? annotation{} : written->second;
    r.add(tags_text(wrote)).add(wrote.note);
    for (const auto& name : *metrics) {
      const auto v = find(done.metrics, name);
      r.add(v ? literal(*v) : "");
    }
    const auto met = tests->find(c.id);
    for (const auto& name : test_names) {
      const auto v = met == tests->end() ? std::nullopt : find(met->second, name);
      r.add(v ? literal(*v) : "");
    }
    for (const auto& h : e.space.rules.hyperparameters) {
      const auto* v = find(c.genome->hyperparameters, h.name);
      r.add(v != nullptr ? to_text(*v) : "");
    }
    r.add(network_text(*c.genome));
    out << r.line();
    return {};
  });
}

} // namespace clade
