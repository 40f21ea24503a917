#include "tools/views/tensorboard/tensorboard.hpp"

#include "engine/report/text/text.hpp"
#include "tools/views/tensorboard/event_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <set>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 1s;

double seconds_of(std::int64_t unix_ms) {
  return static_cast<double>(unix_ms) / 1000;
}

/// Returns the text so that Markdown shows it letter by letter.
std::string code_block(const std::string& text) {
  return fmt::format("```\n{}{}", text, text.ends_with('\n') ? "```\n" : "\n```\n");
}

std::string folder_name(candidate_id id) {
  char name[32];
  std::snprintf(name, sizeof(name), "candidate-%06llu",
                static_cast<unsigned long long>(id));
  return name;
}

void add_curve(event_file& file, const candidate_line& line,
               const std::vector<epoch>& curve) {
  // When an epoch ended is not recorded, how long each took is.
  double ended = seconds_of(line.evaluated_ms);
  for (const auto& e : curve)
    ended -= e.seconds;
  for (const auto& e : curve) {
    ended += e.seconds;
    for (const auto& m : e.metrics)
      file.add(scalar_event{m.name, e.number, ended, m.value});
  }
}

expected<void> write_candidate(const std::filesystem::path& folder,
                               const candidate_line& line, const genome_view& g) {
  const auto born = seconds_of(line.born_ms);
  auto file = event_file::create(folder / folder_name(line.id), born);
  if (!file)
    return tl::unexpected(file.error());
  file->add(text_event{"network", born, code_block(to_text(g))});
  std::string table = "| name | value |\n|---|---|\n";
  for (const auto& s : g.born.genome->hyperparameters)
    table += fmt::format("| {} | {} |\n", s.name, to_text(s.value));
  file->add(text_event{"hyperparameters", born, table});
  if (g.evaluated)
    add_curve(*file, line, g.evaluated->curve);
  return file->flush();
}

/// The events that are written of a run.
class events_of_run {
public:
  events_of_run(feed& from, std::filesystem::path folder)
      : feed_(from),
        folder_(std::move(folder)) {}

  /// Writes what is new in the picture. `ended`: there will be no more.
  expected<void> write(bool ended) {
    const auto& p = feed_.picture();
    if (p.version.empty())
      return {}; // Nothing is recorded yet.
    if (!file_) {
      auto made = event_file::create(folder_, seconds_of(p.started_ms));
      if (!made)
        return tl::unexpected(made.error());
      file_ = std::move(*made);
      file_->add(
          text_event{"experiment", seconds_of(p.started_ms), code_block(p.experiment)});
    }
    const bool closed = generations_ < p.generations.size();
    for (; generations_ < p.generations.size(); ++generations_)
      add(p.generations[generations_]);
    if (auto flushed = file_->flush(); !flushed)
      return flushed;
    return closed || ended ? write_best() : expected<void>{};
  }

private:
  void add(const generation_line& g) {
    const auto& s = g.summary;
    const auto put = [&](const char* tag, double value) {
      file_->add(scalar_event{tag, static_cast<std::int64_t>(s.generation),
                              seconds_of(g.closed_ms), value});
    };
    put("evaluations/succeeded", static_cast<double>(s.succeeded));
    put("evaluations/failed", static_cast<double>(s.failed));
    if (s.front.members != 0) { // There are several objectives.
      put("front/candidates", static_cast<double>(s.front.members));
      put("front/hypervolume", s.front.hypervolume);
    }
    if (s.best == 0)
      return;
    put("fitness/best", s.best_fitness);
    put("fitness/median", s.median_fitness);
    put("fitness/lower_quartile", s.lower_quartile);
    put("fitness/upper_quartile", s.upper_quartile);
  }

  expected<void> write_best() {
    // A copy: to ask for a candidate may bring a new picture.
    const auto best = feed_.picture().best;
    for (const auto& line : best) {
      if (written_.contains(line.id))
        continue;
      auto wrote = feed_.candidate(line.id).and_then(
          [&](const genome_view& g) { return write_candidate(folder_, line, g); });
      if (!wrote)
        return wrote;
      written_.insert(line.id);
    }
    return {};
  }

  feed& feed_;
  std::filesystem::path folder_;
  std::optional<event_file> file_;
  std::size_t generations_ = 0;
  std::set<candidate_id> written_;
};

/// Whether more may come. A replay ends with the end of the run that it shows.
bool goes_on(const feed& from) {
  const auto showing = from.showing();
  return showing == feed_state::live || showing == feed_state::not_connected
         || (showing == feed_state::replay && !from.picture().finished);
}

} // namespace

expected<void> write_tensorboard(feed& from, const std::filesystem::path& folder) {
  events_of_run events(from, folder);
  while (goes_on(from)) {
    if (auto wrote = events.write(false); !wrote)
      return wrote;
    if (const auto came = from.wait(patience); !came)
      return tl::unexpected(came.error());
  }
  return events.write(true);
}

} // namespace clade
