#include "engine/export/model/model.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <map>

namespace clade {

expected<exported_model> export_network(const network& n,
                                        std::span<const weight_tensor> weights) {
  const auto lowered = lower(n);
  if (auto sound = check(lowered); !sound)
    return tl::unexpected(std::move(sound.error()));
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < weights.size(); ++i)
    places.emplace(weights[i].name, i);
  const auto refuse = [](const std::string& why) {
    return fail(error_kind::corrupt, "weights of another network: " + why);
  };
  exported_model m;
  m.run_tensors.resize(weights.size());
  m.steps = lowered.steps;
  for (auto& s : m.steps)
    for (auto& t : s.tensors) {
      const auto& name = lowered.tensors[t.index].name;
      const auto shape = lowered.shape_of(t.index);
      const auto at = places.find(name);
      if (at == places.end())
        return refuse(name + " is missing");
      if (weights[at->second].shape != shape)
        return refuse(
            fmt::format("{} is not of the shape {}", name, to_text(tensor_shape{shape})));
      t.index = m.weights.size();
      m.run_tensors[at->second] = {name, t.index};
      m.weights.push_back(weights[at->second]);
      m.weights.back().name = fmt::format("{}.{}", s.name, t.role);
    }
  // A tensor that several layers share stands there for each of them.
  if (weights.size() != lowered.tensors.size())
    return refuse(
        fmt::format("{} tensors for {}", weights.size(), lowered.tensors.size()));
  m.drawing = to_text(n);
  return m;
}

written_step written(const exported_model& m, const program_step& s,
                     std::span<const std::string> values, const std::string& examples) {
  std::vector<std::string> in;
  for (const auto& from : s.inputs)
    if (from.step < values.size())
      in.push_back(values[from.step]);
  if (s.inputs.empty())
    in.push_back(examples);
  return {s, m.weights, std::move(in)};
}

mixed_answers mixed_for(const learning_task& task, bool bounded) {
  if (task.has_labels() && bounded)
    return mixed_answers::bounded_odds;
  return !task.has_classes() ? mixed_answers::values
         : bounded           ? mixed_answers::bounded_probabilities
                             : mixed_answers::probabilities;
}

std::vector<std::string> names_of(const preprocessing& how) {
  std::vector<std::string> out;
  for (const auto& c : how.columns)
    if (!c.name.empty())
      out.push_back(c.name);
  return out;
}

std::string title_of(const exported_model& m) {
  if (m.run.empty())
    return "a network before its training";
  std::string out = fmt::format("{} of {}",
                                m.id != 0   ? numbered(m.id)
                                : m.interim ? "the model so far"
                                            : "the final model",
                                m.run);
  for (std::size_t i = 0; i < m.metrics.size(); ++i)
    out += fmt::format("{}{} {}", i == 0 ? ": " : ", ", m.metrics[i].name,
                       metric_text(m.metrics[i].value));
  return out;
}

} // namespace clade
