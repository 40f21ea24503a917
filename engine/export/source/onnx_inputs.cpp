// A text becomes its place among the known ones by LabelEncoder, -1 where it is none of
// them, and that is a blank. Each column's pieces [N, inputs] are joined in the order of
// the columns; NaN is filled in all of them at once.

#include "engine/export/source/onnx_inputs.hpp"

#include "engine/export/source/row_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace clade {
namespace {

using names = onnx_graph::names;
using sizes = onnx_graph::sizes;
using element = onnx_graph::element;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::int64_t whole(std::size_t n) {
  return static_cast<std::int64_t>(n);
}

class input_writer {
public:
  input_writer(onnx_graph& graph, const preprocessing& how,
               const std::set<std::string>& taken)
      : graph_(graph),
        how_(how),
        taken_(taken),
        type_(takes_doubles(how) ? element::real64 : element::real32) {}

  std::vector<onnx_input> write() {
    auto x = takes_texts(how_) ? columns() : numbers();
    x = filled(x);
    x = scaled(x);
    graph_.add("Reshape",
               {x, graph_.shape("input.shape", onnx_graph::of_examples(how_.shape))},
               "examples");
    return std::move(inputs_);
  }

private:
  std::string declare(const onnx_input& input, element type, const sizes& shape) {
    graph_.declare_input(input.name, type, shape);
    inputs_.push_back(input);
    return input.name;
  }

  std::string done(const std::string& op, const names& in, const std::string& name) {
    graph_.add(op, in, name);
    return name;
  }
  /// In the type of the raw examples.
  std::string constant(const std::string& name, const sizes& shape,
                       const std::vector<double>& values) {
    if (type_ == element::real64)
      return graph_.numbers(name, shape, values);
    return graph_.numbers(name, shape, std::vector<float>(values.begin(), values.end()));
  }

  std::string numbers() {
    auto x = declare({"input", "numbers"}, type_, sizes_in_file(how_).sizes);
    if (how_.layout == array_layout::channels_last) {
      const auto pixels = in_file(how_.shape, how_.layout);
      x = done("Reshape",
               {x, graph_.shape("input.sizes", onnx_graph::of_examples(pixels))},
               "input.pixels");
      graph_.add("Transpose", {x}, "input.channels_first").list("perm", {0, 3, 1, 2});
      x = "input.channels_first";
    }
    x = done("Reshape", {x, graph_.shape("input.width", {-1, whole(how_.width)})},
             "input.columns");
    const auto order = input_order(how_);
    if (order.empty())
      return x;
    const auto blank = blank_of(x, "input");
    graph_.add("Concat", {x, blank}, "input.with_blanks").whole("axis", 1);
    graph_
        .add("Gather", {"input.with_blanks", graph_.shape("input.order", order)},
             "input.inputs")
        .whole("axis", 1);
    return "input.inputs";
  }

  /// 1 where it is NaN, else 0.
  std::string blank_of(const std::string& x, const std::string& name) {
    return graph_.cast(done("IsNaN", {x}, name + ".nan"), type_, name + ".blank");
  }

  std::string columns() {
    names pieces;
    for (std::size_t c = 0; c < how_.columns.size(); ++c)
      add_column(how_.columns[c], c, pieces);
    graph_.add("Concat", pieces, "input.inputs").whole("axis", 1);
    return "input.inputs";
  }

  std::string input_name(const column_encoding& c, std::size_t i) const {
    auto name = c.name.empty() ? fmt::format("column{}", i + 1) : c.name;
    while (taken_.contains(name.substr(0, name.find('.')))
           || std::ranges::find(inputs_, name, &onnx_input::name) != inputs_.end())
      name.insert(0, "_");
    return name;
  }

  void add_column(const column_encoding& c, std::size_t i, names& pieces) {
    if (c.inputs() == 0)
      return;
    if (c.kind == encoding_kind::text) {
      pieces.push_back(
          declare({input_name(c, i), "text", i}, type_, {whole(c.inputs())}));
      return;
    }
    const auto type = c.kind == encoding_kind::number ? type_
                      : c.kind == encoding_kind::date ? element::real64
                                                      : element::text;
    const auto in =
        declare({input_name(c, i), std::string(to_text(c.kind)), i}, type, {});
    const auto name = fmt::format("input.column{}", i + 1);
    if (c.kind == encoding_kind::category)
      return add_category(c, in, name, pieces);
    auto value = in;
    if (c.kind == encoding_kind::yes_no)
      value = yes_no(in, name);
    value =
        done("Reshape", {value, graph_.shape(name + ".one", {-1, 1})}, name + ".column");
    if (c.kind == encoding_kind::date)
      value = add_date(c, value, name, pieces);
    else
      pieces.push_back(value);
    if (c.blank_input)
      pieces.push_back(blank_of(value, name));
  }

  std::string yes_no(const std::string& in, const std::string& name) {
    names keys;
    std::vector<float> values;
    const auto add = [&](const std::vector<std::string>& words, float value) {
      for (const auto& word : words)
        for (const auto& spelling : spellings_of(word)) {
          keys.push_back(spelling);
          values.push_back(value);
        }
    };
    add(yes_words(), 1);
    add(no_words(), 0);
    graph_.add("LabelEncoder", {in}, name + ".value", "ai.onnx.ml")
        .list("keys_strings", keys)
        .reals("values_floats", values)
        .real("default_float", std::numeric_limits<float>::quiet_NaN());
    return graph_.cast(name + ".value", type_, name + ".truth");
  }

  /// The word, which is in small letters, in small and capital letters of every mixture:
  /// "no", "No", "nO", "NO".
  static std::set<std::string> spellings_of(const std::string& word) {
    std::set<std::string> all{word};
    for (std::size_t i = 0; i < word.size(); ++i)
      if (word[i] >= 'a' && word[i] <= 'z')
        for (std::string other : std::set(all)) {
          other[i] = static_cast<char>(other[i] - 'a' + 'A');
          all.insert(std::move(other));
        }
    return all;
  }

  void add_category(const column_encoding& c, const std::string& in,
                    const std::string& name, names& pieces) {
    sizes codes;
    for (std::size_t v = 0; v < c.values.size(); ++v)
      codes.push_back(whole(v));
    graph_.add("LabelEncoder", {in}, name + ".code", "ai.onnx.ml")
        .list("keys_strings", c.values)
        .list("values_int64s", codes)
        .whole("default_int64", -1);
    const auto code =
        done("Reshape", {name + ".code", graph_.shape(name + ".one", {-1, 1})},
             name + ".column");
    const auto is = graph_.cast(
        done("Equal", {code, graph_.shape(name + ".codes", codes)}, name + ".same"),
        type_, name + ".is");
    const auto unknown =
        done("Equal", {code, graph_.shape(name + ".none", {-1})}, name + ".unknown");
    if (c.blank_input) {
      pieces.push_back(is);
      pieces.push_back(graph_.cast(unknown, type_, name + ".blank"));
    } else {
      pieces.push_back(done("Where",
                            {unknown, constant(name + ".nothing", {}, {nan}), is},
                            name + ".flags"));
    }
  }

  /// Returns the days. The operations and their order are those of `encode_text`, in
  /// doubles, so that the results are.
  std::string add_date(const column_encoding& c, const std::string& days,
                       const std::string& name, names& pieces) {
    const auto in_type = [&](const std::string& value) {
      return type_ == element::real64 ? value
                                      : graph_.cast(value, type_, value + ".short");
    };
    const auto day = in_type(days);
    pieces.push_back(day);
    constexpr std::array periods{365.2425, 7.0, 1.0};
    const auto circle =
        graph_.numbers(name + ".circle", {}, std::vector<double>{2 * std::numbers::pi});
    for (std::size_t p = 0; p < (c.time_of_day ? 3U : 2U); ++p) {
      const auto wave = fmt::format("{}.wave{}", name, p + 1);
      const auto period =
          graph_.numbers(wave + ".period", {}, std::vector<double>{periods[p]});
      graph_.add("Mod", {days, period}, wave + ".rest").whole("fmod", 1);
      done("Mul", {circle, wave + ".rest"}, wave + ".arc");
      done("Div", {wave + ".arc", period}, wave + ".angle");
      pieces.push_back(in_type(done("Sin", {wave + ".angle"}, wave + ".sin")));
      pieces.push_back(in_type(done("Cos", {wave + ".angle"}, wave + ".cos")));
    }
    return day;
  }

  std::string filled(const std::string& x) {
    const auto fills = fills_of(how_);
    if (fills.empty())
      return x;
    const auto blank = done("IsNaN", {x}, "input.is_blank");
    return done("Where",
                {blank, constant("input_blank", {whole(fills.size())}, fills), x},
                "input.filled");
  }

  std::string scaled(const std::string& x) {
    if (!how_.mean.empty()) {
      const sizes all{whole(how_.mean.size())};
      done("Sub", {x, graph_.numbers("input_mean", all, how_.mean)}, "input.centered");
      done("Div",
           {"input.centered", graph_.numbers("input_deviation", all, how_.deviation)},
           "input.standardized");
      return limited(graph_.cast("input.standardized", element::real32, "input.scaled"));
    }
    if (how_.largest > 0)
      return done("Div", {x, constant("input_largest", {}, {double{how_.largest}})},
                  "input.scaled");
    return x;
  }

  std::string limited(const std::string& x) {
    if (how_.limit.empty())
      return x;
    const sizes all{whole(how_.limit.size())};
    const std::vector<float> most(how_.limit.begin(), how_.limit.end());
    std::vector<float> least;
    for (const float v : most)
      least.push_back(-v);
    done("Min", {x, graph_.numbers("input_limit", all, most)}, "input.below");
    return done("Max", {"input.below", graph_.numbers("input_least", all, least)},
                "input.limited");
  }

  onnx_graph& graph_;
  const preprocessing& how_;
  const std::set<std::string>& taken_;
  element type_; ///< The type of raw examples.
  std::vector<onnx_input> inputs_;
};

} // namespace

std::vector<onnx_input> add_inputs(onnx_graph& graph, const preprocessing& how,
                                   const std::set<std::string>& taken) {
  return input_writer(graph, how, taken).write();
}

} // namespace clade
