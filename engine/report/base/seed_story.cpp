// Parents have smaller ids than their children, so that one pass by rising id knows of each
// parent whether it descends from a seed.
#include "engine/report/base/seed_story.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace clade {

namespace {

class seed_reader {
public:
  explicit seed_reader(bool maximize) : maximize_(maximize) {}

  /// Networks that are trained to the end are those of the search anew, or are judged by
  /// other examples: a fold that they leave out.
  void add(const descent_row& row) {
    if (row.to_the_end)
      return;
    if (row.id != now_.id) {
      close();
      now_ = {.id = row.id, .fitness = row.fitness, .network = std::string(row.network)};
    }
    now_.from_seed = now_.from_seed || descendants_.contains(row.parent);
    if (!row.seed.empty()) {
      now_.from_seed = true;
      ++told_.seeds;
      names_[row.id] = row.seed;
      networks_.try_emplace(now_.network, row.seed);
    }
  }

  /// The last candidate was added.
  void close() {
    if (now_.id == 0)
      return;
    ++told_.candidates;
    if (now_.from_seed) {
      descendants_.insert(now_.id);
      if (const auto own = networks_.find(now_.network); own != networks_.end())
        keep(told_.best_seed, own->second);
    } else {
      keep(told_.best_other, "");
    }
  }

  [[nodiscard]] std::optional<seed_story> told() {
    if (told_.seeds == 0)
      return std::nullopt;
    told_.descendants = descendants_.size() - told_.seeds;
    return told_;
  }

  /// The candidate's seed names, by `ancestors` and by itself.
  void tell_champion(candidate_id id, const std::vector<candidate_id>& ancestors,
                     const std::string& network, seed_story& to) const {
    to.champion = id;
    for (const auto& [seed, name] : names_)
      if (seed == id || std::ranges::find(ancestors, seed) != ancestors.end())
        to.champion_from.push_back(name);
    if (const auto own = networks_.find(network);
        own != networks_.end() && !to.champion_from.empty())
      to.champion_is = own->second;
  }

private:
  struct current {
    candidate_id id = 0;
    std::optional<double> fitness;
    std::string network;
    bool from_seed = false;
  };

  void keep(std::optional<seed_story::best>& best, const std::string& seed) const {
    if (now_.fitness
        && (!best
            || (maximize_ ? *now_.fitness > best->fitness
                          : *now_.fitness < best->fitness)))
      best = {.id = now_.id, .fitness = *now_.fitness, .seed = seed};
  }

  bool maximize_;
  current now_;
  std::unordered_set<candidate_id> descendants_; ///< The seeds among them.
  std::map<candidate_id, std::string> names_;
  /// The networks of seeds, to their names.
  std::map<std::string, std::string> networks_;
  seed_story told_;
};

std::string champion_words(const seed_story& told) {
  if (told.champion == 0)
    return "";
  std::string text = told.is_final ? " The champion " : " The best so far, ";
  text += numbered(told.champion) + (told.is_final ? " " : ", ");
  if (!told.champion_is.empty())
    return fmt::format("{}is the seed {}.", text, told.champion_is);
  if (told.champion_from.empty())
    return text + "descends from no seed.";
  return fmt::format("{}descends from the seed{}{}.", text,
                     told.champion_from.size() == 1 ? " " : "s ",
                     enumerated(told.champion_from, " and "));
}

} // namespace

expected<std::optional<seed_story>> tell_seeds(const store& s) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  seed_reader reader(overview->goal.maximize);
  if (auto read = s.for_each_descent([&](const descent_row& row) { reader.add(row); });
      !read)
    return tl::unexpected(read.error());
  reader.close();
  auto told = reader.told();
  const bool is_final = overview->champion != 0;
  const auto id = is_final ? overview->champion : overview->best;
  if (!told || id == 0)
    return told;
  told->is_final = is_final;
  const auto ancestors = s.ancestors(id);
  if (!ancestors)
    return tl::unexpected(ancestors.error());
  return s.find_candidate(id).map([&](const candidate& c) {
    reader.tell_champion(id, *ancestors, to_text(c.network), *told);
    return std::move(told);
  });
}

std::string seed_words(const seed_story& told, const std::string& metric) {
  std::string text = fmt::format(
      "The search began with {}{}; {} of {} other candidates descend from "
      "{}",
      with_commas(told.seeds), told.seeds == 1 ? " seed" : " seeds",
      with_commas(told.descendants), with_commas(told.candidates - told.seeds),
      told.seeds == 1 ? "it." : "them.");
  if (told.best_seed)
    text += fmt::format(" The best seed itself is {} ({}) with {} {}",
                        told.best_seed->seed, numbered(told.best_seed->id), metric,
                        metric_text(told.best_seed->fitness));
  else
    text += " No seed itself succeeded";
  if (told.best_other)
    text +=
        fmt::format("; the best candidate that descends from no seed, {}, has {}",
                    numbered(told.best_other->id), metric_text(told.best_other->fitness));
  return fmt::format("{}.{}", text, champion_words(told));
}

} // namespace clade
