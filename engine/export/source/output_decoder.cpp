#include "engine/export/source/output_decoder.hpp"

#include "engine/export/source/python_source.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace clade {
namespace {

using texts_by_name = output_decoder::texts_by_name;

std::string names_json(const preprocessing& how) {
  return nlohmann::json(how.classes)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr output_decoder probabilities{
    .outputs = "the logits",
    .result = "of each the class, and the probabilities",
    .docstring = "Of each raw row the likeliest class and all probabilities: [(class, "
                 "{class: probability})].",
    .returned = "[(CLASSES[int(p.argmax())], dict(zip(CLASSES, p.tolist()))) for p in "
                "outputs.softmax(1)]",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      return {{"CLASSES", python_literal(how.classes)}};
    },
    .torchscript =
        [](const std::string& last, const preprocessing&) {
          return fmt::format("torch.softmax({}, 1)", last);
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          using element = onnx_graph::element;
          const auto count = static_cast<std::int64_t>(how.classes.size());
          graph.add("Softmax", {last}, "probabilities").whole("axis", 1);
          graph.add("ArgMax", {last}, "label").whole("axis", 1).whole("keepdims", 0);
          graph.add("Gather", {graph.texts("classes", how.classes), "label"}, "class")
              .whole("axis", 0);
          graph.declare_output("class", element::text, {});
          graph.declare_output("probabilities", element::real32, {count});
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"classes", names_json(how)}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      return {{"classes", names_json(how)}};
    }};

constexpr output_decoder own_unit{
    .outputs = "the standardised value",
    .result = "of each the value",
    .docstring = "Of each raw row the value, in the target's own unit.",
    .returned = "(outputs[:, 0].double() * TARGET_DEVIATION + TARGET_MEAN).tolist()",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      const auto& scale = how.target_scales.front();
      return {{"TARGET_MEAN", literal(scale.mean)},
              {"TARGET_DEVIATION", literal(scale.deviation)}};
    },
    .torchscript =
        [](const std::string& last, const preprocessing& how) {
          const auto& scale = how.target_scales.front();
          return "torch.select(" + last + ", 1, 0).to(7) * " // 7: double.
                 + literal(scale.deviation) + " + " + literal(scale.mean);
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          const auto number = [&](const char* name, double v) {
            return graph.numbers(name, {}, std::vector<double>{v});
          };
          const auto& scale = how.target_scales.front();
          graph.add("Reshape", {last, graph.shape("one_value", {-1})},
                    "standardised_value");
          graph.cast("standardised_value", onnx_graph::element::real64, "double_value");
          graph.add("Mul", {"double_value", number("target_deviation", scale.deviation)},
                    "scaled_value");
          graph.add("Add", {"scaled_value", number("target_mean", scale.mean)}, "value");
          graph.declare_output("value", onnx_graph::element::real64, {});
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"target", how.target}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      const auto& scale = how.target_scales.front();
      return {{"target_mean", literal(scale.mean)},
              {"target_deviation", literal(scale.deviation)}};
    }};

/// By target its mean or its deviation.
std::vector<double> scales_of(const preprocessing& how, double target_scale::*part) {
  std::vector<double> all;
  for (const target_scale& s : how.target_scales)
    all.push_back(s.*part);
  return all;
}

std::vector<double> means_of(const preprocessing& how) {
  return scales_of(how, &target_scale::mean);
}

std::vector<double> deviations_of(const preprocessing& how) {
  return scales_of(how, &target_scale::deviation);
}

/// "[0.5, 2.0]", which Python, TorchScript and JSON read alike.
std::string list_literal(std::span<const double> values) {
  std::vector<std::string> texts;
  for (const double v : values)
    texts.push_back(literal(v));
  return "[" + joined(texts, ", ") + "]";
}

constexpr output_decoder own_units{
    .outputs = "the standardised values",
    .result = "of each the values by target",
    .docstring =
        "Of each raw row the values in the targets' own units: [{target: value}].",
    .returned = "[dict(zip(TARGETS, v)) for v in (outputs.double() * "
                "torch.tensor(TARGET_DEVIATIONS, dtype=torch.float64) + "
                "torch.tensor(TARGET_MEANS, dtype=torch.float64)).tolist()]",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      return {{"TARGETS", python_literal(how.classes)},
              {"TARGET_MEANS", list_literal(means_of(how))},
              {"TARGET_DEVIATIONS", list_literal(deviations_of(how))}};
    },
    .torchscript =
        [](const std::string& last, const preprocessing& how) {
          return fmt::format(
              "{}.to(7) * torch.tensor({}, dtype=7) + torch.tensor({}, dtype=7)", last,
              list_literal(deviations_of(how)), list_literal(means_of(how)));
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          const auto count = static_cast<std::int64_t>(how.classes.size());
          graph.cast(last, onnx_graph::element::real64, "double_value");
          graph.add("Mul",
                    {"double_value",
                     graph.numbers("target_deviation", {count}, deviations_of(how))},
                    "scaled_value");
          graph.add(
              "Add",
              {"scaled_value", graph.numbers("target_mean", {count}, means_of(how))},
              "values");
          graph.declare_output("values", onnx_graph::element::real64, {count});
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"targets", names_json(how)}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      return {{"targets", names_json(how)},
              {"target_means", list_literal(means_of(how))},
              {"target_deviations", list_literal(deviations_of(how))}};
    }};

// They are written as several targets, in rising order.
constexpr output_decoder quantiles_in_order{
    .outputs = "the standardised quantiles, in any order",
    .result = "of each the quantiles",
    .docstring = "Of each raw row the quantiles in the target's own unit: [{quantile: "
                 "value}].",
    .returned = "[dict(zip(QUANTILES, v)) for v in (outputs.sort(1).values.double() * "
                "TARGET_DEVIATION + TARGET_MEAN).tolist()]",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      auto all = own_unit.python_constants(how);
      all.emplace_back("QUANTILES", python_literal(how.classes));
      return all;
    },
    .torchscript =
        [](const std::string& last, const preprocessing& how) {
          return own_units.torchscript(fmt::format("torch.sort({}, 1)[0]", last), how);
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          const auto count = static_cast<std::int64_t>(how.classes.size());
          graph.add("TopK", {last, graph.shape("quantile_count", {count})}, "in_order")
              .output("order")
              .whole("axis", 1)
              .whole("largest", 0);
          own_units.onnx(graph, "in_order", how);
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"target", how.target}, {"quantiles", names_json(how)}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      auto all = own_unit.safetensors_metadata(how);
      all.emplace_back("quantiles", names_json(how));
      return all;
    }};

constexpr output_decoder label_probabilities{
    .outputs = "the logits of the labels",
    .result = "of each the probabilities by label",
    .docstring = "Of each raw row the probability of each label: [{label: probability}].",
    .returned = "[dict(zip(LABELS, p)) for p in outputs.sigmoid().tolist()]",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      return {{"LABELS", python_literal(how.classes)}};
    },
    .torchscript =
        [](const std::string& last, const preprocessing&) {
          return fmt::format("torch.sigmoid({})", last);
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          graph.add("Sigmoid", {last}, "probabilities");
          graph.declare_output("probabilities", onnx_graph::element::real32,
                               {static_cast<std::int64_t>(how.classes.size())});
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"labels", names_json(how)}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      return {{"labels", names_json(how)}};
    }};

} // namespace

const output_decoder& decoder_of(const preprocessing& how) {
  switch (how.task.decoding) {
  case output_decoding::probabilities:
    return probabilities;
  case output_decoding::own_unit:
    return how.classes.empty() ? own_unit : own_units;
  case output_decoding::quantiles:
    return quantiles_in_order;
  case output_decoding::label_probabilities:
    return label_probabilities;
  }
  std::abort();
}

} // namespace clade
