// One statement for each step, on variables x0, x1, ...; parameters are attributes of the
// module itself.

#include "engine/export/source/torchscript_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/row_source.hpp"
#include "engine/export/source/text_source.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

std::string shape_of(const tensor_shape& shape) {
  std::string text = "[-1";
  for (const auto size : shape.sizes)
    text += fmt::format(", {}", size);
  return text + "]";
}

// TorchScript's numbers for types.
constexpr const char* as_double = ".to(7)";
constexpr const char* as_float = ".to(6)";

std::string prepare(const preprocessing& how) {
  std::string text = "def prepare(self, rows):\n    # type: (Tensor) -> Tensor\n";
  const auto line = [&](const std::string& s) { text += fmt::format("    {}\n", s); };
  const auto width = takes_texts(how) ? how.inputs() : how.width;
  const std::string type = takes_doubles(how) ? as_double : as_float;
  line(fmt::format("x = torch.reshape(rows{}, [-1, {}])", type, width));
  if (how.layout == array_layout::channels_last)
    line(fmt::format("x = torch.permute(torch.reshape(x, {}), [0, 3, 1, 2])",
                     shape_of(in_file(how.shape, how.layout))));
  if (!takes_texts(how) && !input_order(how).empty())
    line(fmt::format("x = torch.index_select(torch.cat([x, torch.isnan(x){}], 1), 1, "
                     "self.input_order)",
                     type));
  if (!fills_of(how).empty())
    line("x = torch.where(torch.isnan(x), self.input_blank, x)");
  if (!how.mean.empty())
    line("x = ((x - self.input_mean) / self.input_deviation)" + std::string(as_float));
  if (!how.limit.empty())
    line("x = torch.minimum(torch.maximum(x, -self.input_limit), self.input_limit)");
  if (how.largest > 0)
    line("x = x / self.input_largest");
  line(fmt::format("return torch.reshape(x, {})", shape_of(how.shape)));
  return text + "\n";
}

} // namespace

std::string torchscript_source(const exported_model& m) {
  const auto& how = m.how;
  std::string text = prepare(how);
  for (const auto& s : m.steps)
    if (const auto method = writer_of(s).script_method)
      text += method(written(m, s));
  if (takes_texts(how) && !has_text_columns(how)) {
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
    const auto value = fmt::format("x{}", values.size());
    text += fmt::format("    {} = {}\n", value,
                        writer_of(s).script(written(m, s, values, "self.prepare(rows)")));
    values.push_back(value);
  }
  return fmt::format("{}    return {}\n", text,
                     decoder_of(how).torchscript(values.back(), how));
}

} // namespace clade
