// The nodes of each step, whose value has the step's name, are those of its writer
// (engine/program/write). Weights are initializers; what prepares the examples is added by
// onnx_inputs.cpp.

#include "engine/export/source/onnx_model.hpp"

#include "engine/export/source/onnx_inputs.hpp"
#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/row_source.hpp"
#include "engine/program/write/onnx_graph.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace clade {
namespace {

using names = onnx_graph::names;

class graph_writer : private onnx_graph {
public:
  explicit graph_writer(const exported_model& m) : m_(m), how_(m.how) {}

  [[nodiscard]] bytes write();

private:
  [[nodiscard]] std::set<std::string> own_names() const;
  [[nodiscard]] metadata properties() const;

  const exported_model& m_;
  const preprocessing& how_;
  std::vector<onnx_input> inputs_of_model_;
};

// Returns the beginnings of the names of values, which columns must not have.
std::set<std::string> graph_writer::own_names() const {
  std::set<std::string> all{
      "examples",        "label",         "class",        "classes",
      "probabilities",   "value",         "scaled_value", "standardised_value",
      "double_value",    "one_value",     "target_mean",  "target_deviation",
      "values",          "input",         "input_blank",  "input_mean",
      "input_deviation", "input_largest", "input_limit",  "input_least"};
  for (const auto& s : m_.steps)
    all.insert(s.name);
  return all;
}

onnx_graph::metadata graph_writer::properties() const {
  auto columns = nlohmann::json::array();
  for (const auto& i : inputs_of_model_)
    columns.push_back({{"name", i.name}, {"kind", i.kind}, {"column", i.place}});
  const auto text = [](const nlohmann::json& j) {
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  metadata all{{"run", m_.run},
               {"candidate", std::to_string(m_.id)},
               {"inputs", text(columns)},
               {"columns", text(names_of(how_))}};
  for (auto& property : decoder_of(how_).onnx_properties(how_))
    all.push_back(std::move(property));
  return all;
}

bytes graph_writer::write() {
  inputs_of_model_ = add_inputs(*this, how_, own_names());
  names values;
  for (const auto& s : m_.steps) {
    onnx_lines lines{written(m_, s, values, "examples"), *this};
    values.push_back(writer_of(s).onnx(lines));
  }
  decoder_of(how_).onnx(*this, values.back(), how_);
  return model(fmt::format("{}\n\n{}", title_of(m_), m_.drawing), properties(),
               takes_texts(how_));
}

} // namespace

bytes encode_onnx(const exported_model& m) {
  return graph_writer(m).write();
}

} // namespace clade
