#include "engine/export/source/output_decoder.hpp"

#include "engine/export/source/python_source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace clade {
namespace {

using texts_by_name = output_decoder::texts_by_name;

std::string classes_json(const preprocessing& how) {
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
      return {{"classes", classes_json(how)}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      return {{"classes", classes_json(how)}};
    }};

constexpr output_decoder own_unit{
    .outputs = "the standardised value",
    .result = "of each the value",
    .docstring = "Of each raw row the value, in the target's own unit.",
    .returned = "(outputs[:, 0].double() * TARGET_DEVIATION + TARGET_MEAN).tolist()",
    .python_constants = [](const preprocessing& how) -> texts_by_name {
      return {{"TARGET_MEAN", literal(how.target_mean)},
              {"TARGET_DEVIATION", literal(how.target_deviation)}};
    },
    .torchscript =
        [](const std::string& last, const preprocessing& how) {
          return "torch.select(" + last + ", 1, 0).to(7) * " // 7: double.
                 + literal(how.target_deviation) + " + " + literal(how.target_mean);
        },
    .onnx =
        [](onnx_graph& graph, const std::string& last, const preprocessing& how) {
          const auto number = [&](const char* name, double v) {
            return graph.numbers(name, {}, std::vector<double>{v});
          };
          graph.add("Reshape", {last, graph.shape("one_value", {-1})},
                    "standardised_value");
          graph.cast("standardised_value", onnx_graph::element::real64, "double_value");
          graph.add("Mul",
                    {"double_value", number("target_deviation", how.target_deviation)},
                    "scaled_value");
          graph.add("Add", {"scaled_value", number("target_mean", how.target_mean)},
                    "value");
          graph.declare_output("value", onnx_graph::element::real64, {});
        },
    .onnx_properties = [](const preprocessing& how) -> texts_by_name {
      return {{"target", how.target}};
    },
    .safetensors_metadata = [](const preprocessing& how) -> texts_by_name {
      return {{"target_mean", literal(how.target_mean)},
              {"target_deviation", literal(how.target_deviation)}};
    }};

} // namespace

const output_decoder& decoder_of(const learning_task& task) {
  switch (task.decoding) {
  case output_decoding::probabilities:
    return probabilities;
  case output_decoding::own_unit:
    return own_unit;
  }
  std::abort();
}

} // namespace clade
