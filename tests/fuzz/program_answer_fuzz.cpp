// Whatever a program prints, or writes for TensorBoard: its metrics are names with finite
// numbers, sorted, or the evaluation failed with a reason. A first byte chooses the form.
#include "engine/evaluation/command/program_answer.hpp"
#include "engine/evaluation/command/tensorboard_events.hpp"
#include "engine/evaluation/process/program_output.hpp"
#include "tests/fuzz/law.hpp"
#include "tests/support/scratch.hpp"

#include <algorithm>
#include <cmath>

using namespace clade;
using namespace clade::fuzz;

namespace {

void hold_metrics(const std::vector<metric>& metrics) {
  for (const auto& m : metrics)
    hold(!m.name.empty() && std::isfinite(m.value), "a metric is a name and a number");
  hold(std::ranges::is_sorted(metrics, {}, &metric::name), "metrics are sorted");
}

void read_lines(std::string_view text, evaluation& e) {
  std::uint32_t last = 0;
  report_reader reports([&](const epoch& heard) {
    hold(heard.number > last, "epochs rise");
    last = heard.number;
    hold_metrics(heard.metrics);
  });
  std::string answer;
  line_splitter lines([&](std::string_view line) {
    if (reports.read(line))
      answer = line;
  });
  lines.add(text);
  lines.finish();
  read_answer(answer, e);
}

void read_file_of_events(std::string_view text, evaluation& e) {
  const scratch_folder folder;
  const auto file = folder.path() / "events.out.tfevents.1";
  followed_events events(folder.path(), "loss", hold_metrics);
  // The file grows as it is written: a half, then all.
  for (const auto size : {text.size() / 2, text.size()}) {
    write_text(file, std::string(text.substr(0, size)));
    events.look();
  }
  events.answer(e);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  evaluation e;
  if (input.flip())
    read_file_of_events(input.rest(), e);
  else
    read_lines(input.rest(), e);
  hold_metrics(e.metrics);
  hold((e.outcome == outcome::succeeded) == !e.metrics.empty(), "a success has metrics");
  hold((e.outcome == outcome::succeeded) == e.reason.empty(), "a failure has a reason");
  return 0;
}
