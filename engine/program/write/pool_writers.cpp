// Pools of images, and global ones of sequences. "average" multiplies each channel by a
// matrix of rows and by one of columns.
#include "engine/program/lower/windows.hpp"
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {
namespace {

std::string number(std::int64_t n) {
  return std::to_string(n);
}
std::string pair_of(std::int64_t v) {
  return fmt::format("[{}, {}]", number(v), number(v));
}

std::string max_pool_onnx(onnx_lines& s) {
  const auto w = pool_of(s.step);
  s.last("MaxPool", {s.x()})
      .list("kernel_shape", {w.kernel, w.kernel})
      .list("strides", {w.stride, w.stride})
      .list("pads", {w.top, w.left, w.bottom, w.right});
  return s.step.name;
}

bool is_padded_first(const pool_window& w) {
  return !w.odd() && w.top + w.left + w.bottom + w.right > 0;
}

std::string sides(const pool_window& w) {
  return fmt::format("{}, {}, {}, {}", number(w.left), number(w.right), number(w.top),
                     number(w.bottom));
}

std::string max_pool_script(const written_step& s) {
  const auto w = pool_of(s.step);
  auto x = s.x();
  if (is_padded_first(w))
    x = fmt::format("torch.constant_pad_nd({}, [{}], float(\"-inf\"))", x, sides(w));
  return fmt::format("torch.max_pool2d({}, {}, {}, {})", x, pair_of(w.kernel),
                     pair_of(w.stride), pair_of(w.odd() ? w.top : 0));
}

std::string max_pool_python(const written_step& s) {
  const auto w = pool_of(s.step);
  auto x = s.x();
  if (is_padded_first(w))
    x = fmt::format("F.pad({}, ({}), value=-torch.inf)", x, sides(w));
  return fmt::format("F.max_pool2d({}, {}, {}{}", x, number(w.kernel), number(w.stride),
                     w.odd() ? fmt::format(", padding={})", number(w.top)) : ")");
}

std::string avg_pool_onnx(onnx_lines& s) {
  const auto w = pool_of(s.step);
  s.last("AveragePool", {s.x()})
      .list("kernel_shape", {w.kernel, w.kernel})
      .list("strides", {w.stride, w.stride})
      .list("pads", {w.top, w.left, w.bottom, w.right})
      .whole("count_include_pad", 0);
  return s.step.name;
}

std::string avg_pool_script(const written_step& s) {
  const auto w = pool_of(s.step);
  return fmt::format("torch.avg_pool2d({}, {}, {}, {}, False, False)", s.x(),
                     pair_of(w.kernel), pair_of(w.stride), pair_of(w.top));
}

std::string avg_pool_python(const written_step& s) {
  const auto w = pool_of(s.step);
  return fmt::format(
      "F.avg_pool2d({}, {}, {}{}", s.x(), number(w.kernel), number(w.stride),
      w.top == 0 ? ")"
                 : fmt::format(", padding={}, count_include_pad=False)", number(w.top)));
}

// The matrices of rows [out, in] and columns [in, out].
std::vector<script_constant> average_matrices(const written_step& s) {
  const auto spans = averaged(s.step);
  const auto height = s.step.in.sizes[1], width = s.step.in.sizes[2];
  const auto columns = std::ssize(spans.columns);
  const auto right = averaging_matrix(spans.columns, width);
  std::vector<float> transposed;
  for (std::int64_t from = 0; from < width; ++from)
    for (std::int64_t c = 0; c < columns; ++c)
      transposed.push_back(right[static_cast<std::size_t>(c * width + from)]);
  return {{s.step.name + "_rows",
           {std::ssize(spans.rows), height},
           averaging_matrix(spans.rows, height)},
          {s.step.name + "_columns", {width, columns}, std::move(transposed)}};
}

std::string average_onnx(onnx_lines& s) {
  const auto both = average_matrices(s);
  const auto matrix = [&](const std::string& role, const script_constant& c) {
    return s.numbers(role, c.shape, std::get<std::vector<float>>(c.values));
  };
  s.add("MatMul", {matrix("rows", both[0]), s.x()}, "narrowed");
  s.last("MatMul", {s.part("narrowed"), matrix("columns", both[1])});
  return s.step.name;
}

std::string average_script(const written_step& s) {
  return fmt::format("torch.matmul(torch.matmul(self.{}_rows, {}), self.{}_columns)",
                     s.step.name, s.x(), s.step.name);
}

std::string average_module(const written_step& s) {
  const auto text = [](const averaged_spans::span_list& all) {
    std::string list;
    for (const auto& [from, to] : all)
      list +=
          fmt::format("{}{}, {})", list.empty() ? "(" : ", (", number(from), number(to));
    return fmt::format("[{}]", list);
  };
  const auto spans = averaged(s.step);
  return fmt::format("Average({}, {}, {}, {})", text(spans.rows), text(spans.columns),
                     number(s.step.in.sizes[1]), number(s.step.in.sizes[2]));
}

constexpr std::string_view average_class = R"(
class Average(nn.Module):
    """Row i of what comes out is the mean of the rows from rows[i][0] up to rows[i][1], and so with columns."""

    def __init__(self, rows, columns, height, width):
        super().__init__()
        self.register_buffer("rows", self.matrix(rows, height), persistent=False)
        self.register_buffer("columns", self.matrix(columns, width), persistent=False)

    @staticmethod
    def matrix(spans, size):
        matrix = torch.zeros(len(spans), size)
        for i, (start, end) in enumerate(spans):
            matrix[i, start:end] = 1 / (end - start)
        return matrix

    def forward(self, x):
        return self.rows @ x @ self.columns.T

)";

bool is_of_sequences(const written_step& s) {
  return s.step.in.layout() == layout::sequence;
}

std::string over_steps_onnx(onnx_lines& s, const char* op) {
  s.last(op, {s.x()}).list("axes", onnx_lines::sizes{1}).whole("keepdims", 0);
  return s.step.name;
}
std::string global_onnx(onnx_lines& s, const char* op) {
  s.add(op, {s.x()}, "pixel");
  s.last("Flatten", {s.part("pixel")}).whole("axis", 1);
  return s.step.name;
}
std::string global_avg_onnx(onnx_lines& s) {
  return is_of_sequences(s) ? over_steps_onnx(s, "ReduceMean")
                            : global_onnx(s, "GlobalAveragePool");
}
std::string global_max_onnx(onnx_lines& s) {
  return is_of_sequences(s) ? over_steps_onnx(s, "ReduceMax")
                            : global_onnx(s, "GlobalMaxPool");
}
std::string global_avg_script(const written_step& s) {
  return fmt::format("torch.mean({}, {})", s.x(), is_of_sequences(s) ? "[1]" : "[2, 3]");
}
std::string global_max_script(const written_step& s) {
  return fmt::format("torch.amax({}, {})", s.x(), is_of_sequences(s) ? "[1]" : "[2, 3]");
}
std::string global_avg_python(const written_step& s) {
  return s.x() + (is_of_sequences(s) ? ".mean(1)" : ".mean((2, 3))");
}
std::string global_max_python(const written_step& s) {
  return s.x() + (is_of_sequences(s) ? ".amax(1)" : ".amax((2, 3))");
}

constexpr std::array rows{
    writer{.computes = "max_pool",
           .onnx = max_pool_onnx,
           .script = max_pool_script,
           .python = max_pool_python},
    writer{.computes = "avg_pool",
           .onnx = avg_pool_onnx,
           .script = avg_pool_script,
           .python = avg_pool_python},
    writer{.computes = "average",
           .onnx = average_onnx,
           .script = average_script,
           .script_constants = average_matrices,
           .python_module = average_module,
           .python_class = average_class},
    writer{.computes = "global_avg_pool",
           .onnx = global_avg_onnx,
           .script = global_avg_script,
           .python = global_avg_python},
    writer{.computes = "global_max_pool",
           .onnx = global_max_onnx,
           .script = global_max_script,
           .python = global_max_python},
};

} // namespace

std::span<const writer> pool_writers() {
  return rows;
}

} // namespace clade
