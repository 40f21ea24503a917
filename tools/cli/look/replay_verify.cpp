#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/look/replay.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <thread>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

struct named_count {
  const char* name;
  std::uint64_t count;
};

std::array<named_count, 9> named(const decision_counts& d) {
  return {{{"starts", d.starts},
           {"places", d.places},
           {"parents", d.parents},
           {"networks", d.networks},
           {"equals", d.equals},
           {"copies", d.copies},
           {"closings", d.closings},
           {"survivors", d.survivors},
           {"ends", d.ends}}};
}

struct rates {
  double seconds = 0;

  [[nodiscard]] std::uint64_t per_second(std::uint64_t count) const {
    return seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(count) / seconds)
                       : count;
  }
};

std::string to_text(const verification& v, const rates& r) {
  const auto& d = v.decisions;
  std::string text = fmt::format("digest {}\n", to_text(v.digest));
  if (v.first)
    text += fmt::format("record {} differs: {}\n  stored      {}\n  made again  {}\n{} "
                        "decisions before it are equal",
                        v.first->sequence, v.first->record, v.first->stored,
                        v.first->made, with_commas(d.total()));
  else
    text += fmt::format("all {} decisions equal", with_commas(d.total()));
  std::string counts;
  for (const auto& [name, count] : named(d))
    if (count > 0)
      counts +=
          fmt::format("{}{} {}", counts.empty() ? ": " : ", ", with_commas(count), name);
  return fmt::format(
      "{}{}\n{}: {} decisions a second ({} candidates, {} records)\n", text, counts,
      duration_text(r.seconds), with_commas(r.per_second(d.total())),
      with_commas(r.per_second(v.candidates)), with_commas(r.per_second(v.records)));
}

std::string to_json(const opened_run& run, const verification& v, const rates& r) {
  json counts;
  for (const auto& [name, count] : named(v.decisions))
    counts[name] = count;
  json out{{"file", run.file.string()},    {"equal", !v.first},
           {"digest", to_text(v.digest)},  {"decisions", v.decisions.total()},
           {"by_kind", std::move(counts)}, {"candidates", v.candidates},
           {"records", v.records},         {"seconds", r.seconds},
           {"difference", json()}};
  if (v.first)
    out["difference"] = {{"sequence", v.first->sequence},
                         {"record", v.first->record},
                         {"stored", v.first->stored},
                         {"made", v.first->made}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace

int verify_run(const opened_run& run, bool as_json) {
  if (run.s.size() == 0)
    return report({error_kind::invalid_input,
                   run.file.string() + ": nothing is recorded of this run yet"});
  const auto start = std::chrono::steady_clock::now();
  verifier v(
      [&](const std::string& text) {
        return parse_resolved(text, run.file.string()).and_then(replay_rules_of);
      },
      std::thread::hardware_concurrency());
  const auto read = run.s.for_each([&](std::uint64_t sequence, std::int64_t,
                                       const record& r) { return v.take(sequence, r); });
  const auto result = v.finish();
  if (!read && !result.first)
    return report(read.error());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const rates speed{spent.count()};
  std::cout << (as_json ? to_json(run, result, speed) : to_text(result, speed))
            << std::flush;
  return result.first ? 1 : 0;
}

} // namespace clade
