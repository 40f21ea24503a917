// Records as the lines that people read, one kind after the other.
#include "engine/run/records/record.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iomanip>
#include <sstream>

namespace clade {

namespace {

std::string subject_text(candidate_id id) {
  return id == 0 ? "the run" : numbered(id);
}

std::string line(const run_started& r) {
  return fmt::format("started with seed {} by version {}", r.seed, r.version);
}

std::string line(const candidate_born& r) {
  return "born " + to_text(r.born);
}

std::string line(const candidate_evaluated& r) {
  return "evaluated " + to_text(r.evaluated);
}

std::string line(const generation_closed& r) {
  auto text = fmt::format("closed generation {}:", r.generation);
  for (const auto id : r.survivors)
    text += " " + numbered(id);
  return text;
}

std::string line(const run_finished& r) {
  return r.champion == 0 ? "finished without a champion"
                         : "finished: champion " + numbered(r.champion);
}

std::string line(const run_paused& r) {
  return "paused: " + r.reason;
}

std::string line(const run_resumed& r) {
  return "resumed by version " + r.version;
}

std::string line(const attempt_failed& r) {
  return fmt::format("attempt {} of {} failed on {}: {}", r.attempt, numbered(r.id),
                     r.slot, r.reason);
}

std::string line(const slot_changed& r) {
  return fmt::format("slot {}{}{}{}", r.slot, r.joined ? " joined" : " left",
                     r.reason.empty() ? "" : ": " + r.reason,
                     r.rounding ? fmt::format(", rounding {}", *r.rounding) : "");
}

std::string line(const straggler_seen& r) {
  std::string text = fmt::format("slot {} was slow in {}", r.slot, numbered(r.id));
  if (r.waited_ms > 0)
    text +=
        fmt::format(": the others waited for it for {} of {} ms", r.waited_ms, r.of_ms);
  if (r.left_out > 0)
    text +=
        fmt::format(": {} of its {} gradients were left out", r.left_out, r.of_gradients);
  return text;
}

std::string line(const run_forked& r) {
  auto text = fmt::format("forked from {} at generation {}", r.origin, r.generation);
  for (std::size_t i = 0; i < r.changes.size(); ++i)
    text += (i == 0 ? ": " : ", ") + r.changes[i];
  return text;
}

std::string line(const operator_command& r) {
  return fmt::format("{} ordered: {}", r.who, to_text(r.order));
}

std::string line(const final_planned& r) {
  return fmt::format("the search is over{}: {} trainings to the end",
                     r.reason.empty() ? "" : ", " + r.reason, r.trainings.size());
}

std::string composed_line(const char* subject, const model_composed& r) {
  std::string text = subject;
  for (const auto& m : r.members)
    text += " " + to_text(m, 2);
  for (const auto& why : r.left_out)
    text += "; without " + why;
  return text;
}

std::string line(const model_composed& r) {
  return composed_line("the final model:", r);
}

std::string line(const interim_composed& r) {
  return composed_line("the model so far:", r.model);
}

} // namespace

std::string to_text(const ensemble_member& m, int digits) {
  std::ostringstream share;
  share << std::fixed << std::setprecision(digits) << m.share;
  return fmt::format("{} of {}", share.str(),
                     m.id == 0 ? in_sentence(m.fitted()) : numbered(m.id));
}

std::string to_text(const instruction& i) {
  switch (i.kind) {
  case instruction_kind::hold:
    return "hold";
  case instruction_kind::go_on:
    return "go on";
  case instruction_kind::stop:
    return "stop";
  case instruction_kind::stop_after:
    return "stop after this generation";
  case instruction_kind::slots:
    return "slots " + i.text;
  case instruction_kind::drop:
    return "drop " + numbered(i.number);
  case instruction_kind::extend:
    return fmt::format("extend by {} generations", i.number);
  case instruction_kind::add:
    return "add " + i.text;
  case instruction_kind::begin_with:
    return "begin with " + i.text;
  case instruction_kind::note:
    return "note on " + subject_text(i.number);
  case instruction_kind::tag:
    return fmt::format("tag {} {}", subject_text(i.number), plain_text(i.text));
  case instruction_kind::untag:
    return fmt::format("untag {} {}", subject_text(i.number), plain_text(i.text));
  }
  std::abort();
}

std::string to_text(const record& r) {
  return std::visit([](const auto& one) { return line(one); }, r);
}

std::string to_text(const digest& d) {
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << d.high << std::setw(16)
       << d.low << std::dec << " of " << d.records << " records";
  return text.str();
}

} // namespace clade
