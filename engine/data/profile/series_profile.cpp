// The header says the task and where the target is; the series say the rest.

#include "engine/data/bytes/files_beside.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

std::string steps_text(const series_lengths& lengths) {
  if (lengths.shortest == lengths.longest && lengths.steps == lengths.longest)
    return "";
  const auto stretched = with_commas(lengths.steps);
  if (lengths.steps == lengths.longest)
    return fmt::format("series have {} to {} steps; each is stretched to {}",
                       with_commas(lengths.shortest), with_commas(lengths.longest),
                       stretched);
  return fmt::format("series have {} to {} steps, {} in the mean; each is stretched or "
                     "shrunk to {} (data.shape = [steps, channels] says another length)",
                     with_commas(lengths.shortest), with_commas(lengths.longest),
                     with_commas(lengths.mean), stretched);
}

} // namespace

void note_lengths(data_profile& p, const series_set& set) {
  const auto lengths = lengths_of(set);
  for (const std::string& note :
       {steps_text(lengths),
        lengths.gaps == 0
            ? std::string()
            : counted(lengths.gaps, "value is", "values are")
                  + " missing; each is put on the line between those around it"})
    if (!note.empty())
      p.note(note);
}

expected<data_profile> profile_series(const profile_request& request) {
  const auto origin = request.file.string();
  const auto read = read_data_file(request.file);
  if (!read)
    return tl::unexpected(read.error());
  const auto set = parse_series(read->bytes, origin);
  if (!set)
    return tl::unexpected(set.error());
  auto asked = request;
  if (!asked.task)
    asked.task = set->task;
  data_params params{.file = request.file};
  if (!request.target.empty())
    params.target = request.target;
  // The errors of reading the targets come before anything is written.
  params.task = asked.task.value_or(classification);
  if (const auto fine = series_examples(*set, origin, params); !fine)
    return tl::unexpected(fine.error());
  const auto lengths = lengths_of(*set);
  data_profile p;
  p.format = looks_like_ts(read->bytes) ? "time series (.ts)" : "time series (ARFF)";
  p.file = request.file;
  p.rows = set->count();
  p.shape.sizes = {static_cast<std::int64_t>(lengths.steps),
                   static_cast<std::int64_t>(set->channels)};
  p.target_found = target_reason::labels;
  column_profiler targets(set->target);
  for (const std::string& text : set->targets)
    targets.add(text);
  p.target = targets.finish();
  if (request.test_file.empty())
    p.test_file = test_file_beside(request.file).value_or("");
  finish_profile(p, asked);
  note_lengths(p, *set);
  return p;
}

} // namespace clade
