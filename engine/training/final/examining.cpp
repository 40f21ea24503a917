#include "engine/training/final/examining.hpp"

#include "engine/training/baselines/linear_model.hpp"
#include "engine/training/final/failure.hpp"
#include "engine/training/loop/assessment.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

expected<std::unique_ptr<network_module>>
trained_again(const training_context& context, const job& j, const training_plan& p) {
  std::unique_ptr<network_module> module;
  unheard_progress nobody;
  const auto r = context.train_planned(j, p, nobody, module);
  if (!r)
    return tl::unexpected(r.error());
  if (r->outcome != outcome::succeeded)
    return fail(error_kind::io, fmt::format("candidate {}, trained again, {}: {}", j.id,
                                            to_text(r->outcome), r->reason));
  return module;
}

expected<std::unique_ptr<network_module>> with_weights(const training_context& context,
                                                       const training_plan& p,
                                                       const bytes& weights) {
  auto module = context.make_network(p.network, training_key{});
  const auto decoded = decode_weights(weights);
  if (!decoded)
    return tl::unexpected(decoded.error());
  if (auto loaded = module->load(*decoded); !loaded)
    return tl::unexpected(loaded.error());
  return module;
}

} // namespace

expected<std::unique_ptr<network_module>>
load_candidate(const training_context& context, const genome& g, const bytes& weights) {
  return context.plan_for(g).and_then(
      [&](const training_plan& p) { return with_weights(context, p, weights); });
}

expected<examination> examine_candidate(training_context& context, const job& j,
                                        const bytes& weights) {
  try {
    context.prepare_thread();
    if (auto loaded = context.load(); !loaded)
      return tl::unexpected(loaded.error());
    const auto planned = context.plan_for(j.genome);
    if (!planned)
      return tl::unexpected(planned.error());
    const auto module = weights.empty() ? trained_again(context, j, *planned)
                                        : with_weights(context, *planned, weights);
    if (!module)
      return tl::unexpected(module.error());
    auto& net = **module;
    net.eval();
    examination out;
    out.id = j.id;
    const auto& data = context.data();
    const model predict = [&net](const at::Tensor& x) { return net.forward(x); };
    out.metrics = assess(predict, data, data.test, "test.", context.asked().validation);
    out.details = std::make_shared<const test_details>(details_of(
        predict, data, of_epochs(context.setup().goal).metric, context.setup().seed));
    out.parameters = planned->network.cost().parameters;
    return out;
  } catch (...) {
    return fail(error_kind::io, fmt::format("examining candidate {}: {}", j.id,
                                            failure_of_exception().reason));
  }
}

expected<examination> examine_linear_model(training_context& context, const budget& b) {
  try {
    context.prepare_thread();
    if (auto loaded = context.load(); !loaded)
      return tl::unexpected(loaded.error());
    return fit_linear_model(context.data(), context.problem().outputs, deadline_of(b),
                            context.asked().validation)
        .map([](linear_model&& fitted) { return std::move(fitted.tested); });
  } catch (...) {
    return fail(error_kind::io, "the linear model: " + failure_of_exception().reason);
  }
}

} // namespace clade
