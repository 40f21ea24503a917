// One statement for each step, on variables x0, x1, ...; parameters are attributes of the
// module itself.

#include "engine/export/source/torchscript_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/row_source.hpp"

namespace clade {
namespace {

std::string shape_of(const tensor_shape& shape) {
  std::string text = "[-1";
  for (const auto size : shape.sizes)
    text += ", " + std::to_string(size);
  return text + "]";
}

// TorchScript's numbers for types.
constexpr const char* as_double = ".to(7)";
constexpr const char* as_float = ".to(6)";

std::string prepare(const preprocessing& how) {
  std::string text = "def prepare(self, rows):\n    # type: (Tensor) -> Tensor\n";
  const auto line = [&](const std::string& s) { text += "    " + s + "\n"; };
  const auto width = takes_texts(how) ? how.inputs() : how.width;
  const std::string type = takes_doubles(how) ? as_double : as_float;
  line("x = torch.reshape(rows" + type + ", [-1, " + std::to_string(width) + "])");
  if (how.layout == array_layout::channels_last)
    line("x = torch.permute(torch.reshape(x, " + shape_of(in_file(how.shape, how.layout))
         + "), [0, 3, 1, 2])");
  if (!takes_texts(how) && !input_order(how).empty())
    line("x = torch.index_select(torch.cat([x, torch.isnan(x)" + type
         + "], 1), 1, self.input_order)");
  if (!fills_of(how).empty())
    line("x = torch.where(torch.isnan(x), self.input_blank, x)");
  if (!how.mean.empty())
    line("x = ((x - self.input_mean) / self.input_deviation)" + std::string(as_float));
  if (!how.limit.empty())
    line("x = torch.minimum(torch.maximum(x, -self.input_limit), self.input_limit)");
  if (how.largest > 0)
    line("x = x / self.input_largest");
  line("return torch.reshape(x, " + shape_of(how.shape) + ")");
  return text + "\n";
}

} // namespace

std::string torchscript_source(const exported_model& m) {
  const auto& how = m.how;
  std::string text = prepare(how);
  for (const auto& s : m.steps)
    if (const auto method = writer_of(s).script_method)
      text += method(written(m, s));
  if (takes_texts(how)) {
    text += row_methods(how, {.sine = "torch.sin",
                              .cosine = "torch.cos",
                              .remainder = "torch.fmod",
                              .doubles = "7"}); // TorchScript's number for the type.
    text += "def forward(self, texts):\n    # type: (List[List[str]]) -> Tensor\n"
            "    rows = self.encode(texts)\n";
  } else {
    text += "def forward(self, rows):\n    # type: (Tensor) -> Tensor\n";
  }
  std::vector<std::string> values;
  for (const auto& s : m.steps) {
    const auto value = "x" + std::to_string(values.size());
    text += "    " + value + " = "
            + writer_of(s).script(written(m, s, values, "self.prepare(rows)")) + "\n";
    values.push_back(value);
  }
  return text + "    return " + decoder_of(how.task).torchscript(values.back(), how)
         + "\n";
}

} // namespace clade
