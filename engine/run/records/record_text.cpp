// Records as the lines that people read, one kind after the other.
#include "engine/run/records/record.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <cstdlib>
#include <iomanip>
#include <sstream>

namespace clade {

namespace {

std::string subject_text(candidate_id id) {
  return id == 0 ? "the run" : numbered(id);
}

std::string line(const run_started& r) {
  return "started with seed " + std::to_string(r.seed) + " by version " + r.version;
}

std::string line(const candidate_born& r) {
  return "born " + to_text(r.born);
}

std::string line(const candidate_evaluated& r) {
  return "evaluated " + to_text(r.evaluated);
}

std::string line(const generation_closed& r) {
  auto text = "closed generation " + std::to_string(r.generation) + ":";
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
  return "attempt " + std::to_string(r.attempt) + " of " + numbered(r.id) + " failed on "
         + r.slot + ": " + r.reason;
}

std::string line(const slot_changed& r) {
  return "slot " + r.slot + (r.joined ? " joined" : " left")
         + (r.reason.empty() ? "" : ": " + r.reason)
         + (r.rounding ? ", rounding " + std::to_string(*r.rounding) : "");
}

std::string line(const straggler_seen& r) {
  std::string text = "slot " + r.slot + " was slow in " + numbered(r.id);
  if (r.waited_ms > 0)
    text += ": the others waited for it for " + std::to_string(r.waited_ms) + " of "
            + std::to_string(r.of_ms) + " ms";
  if (r.left_out > 0)
    text += ": " + std::to_string(r.left_out) + " of its "
            + std::to_string(r.of_gradients) + " gradients were left out";
  return text;
}

std::string line(const run_forked& r) {
  auto text =
      "forked from " + r.origin + " at generation " + std::to_string(r.generation);
  for (std::size_t i = 0; i < r.changes.size(); ++i)
    text += (i == 0 ? ": " : ", ") + r.changes[i];
  return text;
}

std::string line(const operator_command& r) {
  return r.who + " ordered: " + to_text(r.order);
}

std::string line(const final_planned& r) {
  return "the search is over" + (r.reason.empty() ? "" : ", " + r.reason) + ": "
         + std::to_string(r.trainings.size()) + " trainings to the end";
}

std::string line(const model_composed& r) {
  std::string text = "the final model:";
  for (const auto& m : r.members)
    text += " " + to_text(m, 2);
  for (const auto& why : r.left_out)
    text += "; without " + why;
  return text;
}

} // namespace

std::string to_text(const ensemble_member& m, int digits) {
  std::ostringstream share;
  share << std::fixed << std::setprecision(digits) << m.share;
  return share.str() + " of "
         + (m.trees     ? "boosted trees"
            : m.id == 0 ? "the linear model"
                        : numbered(m.id));
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
    return "extend by " + std::to_string(i.number) + " generations";
  case instruction_kind::add:
    return "add " + i.text;
  case instruction_kind::begin_with:
    return "begin with " + i.text;
  case instruction_kind::note:
    return "note on " + subject_text(i.number);
  case instruction_kind::tag:
    return "tag " + subject_text(i.number) + " " + plain_text(i.text);
  case instruction_kind::untag:
    return "untag " + subject_text(i.number) + " " + plain_text(i.text);
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
