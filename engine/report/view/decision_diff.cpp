// If two digests are equal, nothing else is read. If they differ, candidates are compared
// some thousand at a time, so that memory does not grow with the runs; bytes that are
// equal are not decoded. Then generations up to that candidate's are compared by their
// survivors, and the ends.
#include "engine/report/view/decision_diff.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t candidates_at_a_time = 2000, generations_at_a_time = 64;

/// Returns those parts of a record by which a person sees how it differs from another.
std::string described(const record& r) {
  auto text = to_text(r) + "\n";
  if (const auto* born = std::get_if<candidate_born>(&r))
    text += to_text(*born->born.genome);
  if (const auto* e = std::get_if<candidate_evaluated>(&r))
    text += fmt::format("{} parameters, weights hash {}\n", e->evaluated.parameters,
                        e->evaluated.weights_hash);
  return text;
}

expected<std::optional<record_difference>> diff_records(const bytes& a, const bytes& b,
                                                        const std::string& what) {
  if (a == b || a.empty() || b.empty())
    return std::nullopt;
  const auto one = decode_record(a), other = decode_record(b);
  if (!one)
    return tl::unexpected(one.error());
  if (!other)
    return tl::unexpected(other.error());
  if (decisive_bytes(*one) == decisive_bytes(*other))
    return std::nullopt;
  return record_difference{.what = what, .a = described(*one), .b = described(*other)};
}

expected<candidates_difference> diff_all_candidates(const store& a, const store& b) {
  candidates_difference sum;
  for (candidate_id next = 1;; next += candidates_at_a_time) {
    const auto some = a.records_of(next, candidates_at_a_time);
    if (!some)
      return tl::unexpected(some.error());
    const auto others = b.records_of(next, candidates_at_a_time);
    if (!others)
      return tl::unexpected(others.error());
    auto found = diff_candidates(*some, *others);
    if (!found)
      return found;
    found->equal += sum.equal;
    sum = std::move(*found);
    if (sum.first || some->size() < candidates_at_a_time
        || others->size() < candidates_at_a_time)
      return sum;
  }
}

/// The first generation before `end` that closed with other survivors.
expected<std::optional<record_difference>> diff_closings(const store& a, const store& b,
                                                         std::uint64_t end) {
  for (std::uint64_t first = 0; first < end; first += generations_at_a_time) {
    const auto count = std::min<std::uint64_t>(generations_at_a_time, end - first);
    const auto some = a.generations(first, count);
    if (!some)
      return tl::unexpected(some.error());
    const auto others = b.generations(first, count);
    if (!others)
      return tl::unexpected(others.error());
    for (std::size_t i = 0; i < std::min(some->size(), others->size()); ++i) {
      const auto &one = (*some)[i], &other = (*others)[i];
      if (!one.closed_ms || !other.closed_ms || one.survivors == other.survivors)
        continue;
      const auto text = [](const generation_overview& g) {
        return described(generation_closed{g.generation, g.survivors});
      };
      return record_difference{
          .what = fmt::format("the survivors of generation {}", one.generation),
          .a = text(one),
          .b = text(other)};
    }
    if (some->size() < count || others->size() < count)
      break;
  }
  return std::nullopt;
}

expected<std::optional<record_difference>> diff_ends(const store& a, const store& b,
                                                     const run_overview& of_a,
                                                     const run_overview& of_b) {
  if (of_a.state != stored_state::finished || of_b.state != stored_state::finished)
    return std::nullopt;
  std::vector<record> ends;
  for (const auto& [s, o] : {std::pair(&a, &of_a), std::pair(&b, &of_b)}) {
    auto examinations = s->examinations();
    if (!examinations)
      return tl::unexpected(examinations.error());
    ends.push_back(run_finished{o->champion, std::move(*examinations)});
  }
  if (decisive_bytes(ends[0]) == decisive_bytes(ends[1]))
    return std::nullopt;
  const auto text = [](const record& r) {
    auto lines = described(r);
    for (const auto& e : std::get<run_finished>(r).examinations) {
      lines += e.subject + ":";
      for (const auto& m : e.metrics)
        lines += fmt::format(" {}={}", m.name, to_text(value(m.value)));
      lines += "\n";
    }
    return lines;
  };
  return record_difference{.what = "the end", .a = text(ends[0]), .b = text(ends[1])};
}

} // namespace

expected<candidates_difference> diff_candidates(std::span<const candidate_records> a,
                                                std::span<const candidate_records> b) {
  candidates_difference d;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    auto first = diff_records(a[i].born, b[i].born, "the birth of " + numbered(a[i].id));
    if (first && !*first)
      first = diff_records(a[i].evaluated, b[i].evaluated,
                           "the evaluation of " + numbered(a[i].id));
    if (!first)
      return tl::unexpected(first.error());
    if (*first) {
      d.first = std::move(*first);
      d.generation = a[i].generation;
      return d;
    }
    ++d.equal;
  }
  return d;
}

expected<void> compare_decisions(const opened_run& a, const opened_run& b,
                                 const compared_run& of_a, const compared_run& of_b,
                                 run_pair& pair) {
  if (of_a.run.digest == of_b.run.digest) {
    pair.same_start = true;
    pair.candidates = of_a.run.overview.born;
    return {};
  }
  const auto candidates = diff_all_candidates(a.s, b.s);
  if (!candidates)
    return tl::unexpected(candidates.error());
  pair.candidates = candidates->equal;
  const auto generations =
      std::min(of_a.run.overview.generation, of_b.run.overview.generation) + 1;
  auto first =
      diff_closings(a.s, b.s, candidates->first ? candidates->generation : generations);
  if (first && !*first)
    *first = candidates->first;
  if (first && !*first)
    first = diff_ends(a.s, b.s, of_a.run.overview, of_b.run.overview);
  if (!first)
    return tl::unexpected(first.error());
  pair.first = std::move(*first);
  return {};
}

} // namespace clade
