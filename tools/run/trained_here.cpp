#include "tools/run/trained_here.hpp"

#include "engine/evaluation/processor_time.hpp"

#include <fmt/format.h>

#include <chrono>

namespace clade {

namespace {

/// Ends an evaluation that is over its time.
class timed final : public progress {
public:
  explicit timed(std::chrono::milliseconds most) : most_(most) {}

  bool report(const epoch&) override {
    return most_.count() == 0 || std::chrono::steady_clock::now() - start_ < most_;
  }

private:
  std::chrono::milliseconds most_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace

expected<trained_here> train_here(const trained_here_params& params) {
  auto overrides = params.overrides;
  if (!params.slots.empty())
    overrides.push_back(fmt::format("slots.local=\"{}\"", params.slots));
  auto e = load_experiment(params.file, overrides);
  if (!e)
    return tl::unexpected(std::move(e).error());
  auto checked = check_fresh(std::move(*e));
  if (!checked)
    return tl::unexpected(std::move(checked).error());
  const auto& experiment = checked->experiment;
  if (auto able = check_machine(experiment); !able)
    return tl::unexpected(able.error());
  const auto slots = parse_slots(experiment.slots.local);
  if (!slots)
    return tl::unexpected(slots.error());
  if (slots->empty())
    return fail(error_kind::invalid_input,
                "slots \"none\": nothing can be trained here; take cpu:1");
  // LibTorch reads it when it is loaded.
  enter_environment(slots->front());
  auto work = std::make_shared<node_work>();
  if (auto ready = work->prepare(experiment, slots->front().device); !ready)
    return tl::unexpected(std::move(ready).error());
  return trained_here{.checked = std::move(*checked),
                      .work = work,
                      .by = {.evaluate =
                                 [work](job j) {
                                   timed t(work->budget(j.budget).time);
                                   return work->evaluate(j.id, 0, j, t);
                                 },
                             .examine =
                                 [work](job j, const bytes& weights) {
                                   unheard_progress nobody;
                                   return work->examine(0, j, weights, {}, nobody);
                                 },
                             .processor_seconds = process_seconds}};
}

} // namespace clade
