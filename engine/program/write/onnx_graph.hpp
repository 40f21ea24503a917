#pragma once

#include "engine/program/lower/program.hpp"
#include "engine/program/write/wire_message.hpp"
#include "genome/codec/codec.hpp"

#include <bit>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace clade {

/// An ONNX graph under construction, whose values go by their names. Field numbers are
/// those of https://github.com/onnx/onnx/blob/v1.12.0/onnx/onnx.proto.
class onnx_graph {
public:
  using names = std::vector<std::string>;
  using sizes = std::vector<std::int64_t>;

  static_assert(std::endian::native == std::endian::little, "raw data is little-endian");

  static constexpr std::int64_t ir_version = 8, opset = 17, ml_opset = 2;

  /// TensorProto.DataType
  enum class element { real32 = 1, whole64 = 7, text = 8, real64 = 11 };

  /// A node whose attributes are still to come.
  class node {
  public:
    explicit node(wire_message& proto) : proto_(proto) {}

    node& whole(const char* name, std::int64_t v) {
      return attribute(wire_message().text(1, name).number(3, v).number(20, 2));
    }
    node& real(const char* name, double v) {
      return attribute(
          wire_message().text(1, name).real(2, static_cast<float>(v)).number(20, 1));
    }
    node& text(const char* name, const char* v) {
      return attribute(wire_message().text(1, name).text(4, v).number(20, 3));
    }
    node& list(const char* name, const sizes& v) {
      wire_message a;
      a.text(1, name);
      for (const auto i : v)
        a.number(8, i);
      return attribute(a.number(20, 7));
    }
    node& list(const char* name, const names& v) {
      wire_message a;
      a.text(1, name);
      for (const auto& text : v)
        a.text(9, text);
      return attribute(a.number(20, 8));
    }

    node& graph(const char* name, const onnx_graph& g) {
      return attribute(
          wire_message().text(1, name).message(6, g.message()).number(20, 5));
    }
    /// One output more.
    node& output(const std::string& name) {
      proto_.text(2, name);
      return *this;
    }

    node& reals(const char* name, const std::vector<float>& v) {
      wire_message a;
      a.text(1, name);
      for (const auto f : v)
        a.real(7, f);
      return attribute(a.number(20, 6));
    }

  private:
    node& attribute(const wire_message& a) {
      proto_.message(5, a);
      return *this;
    }

    wire_message& proto_;
  };

  /// With one output, `name`.
  node add(const std::string& op, const names& inputs, const std::string& name,
           const std::string& domain = "") {
    auto& n = nodes_.emplace_back();
    for (const auto& i : inputs)
      n.text(1, i);
    n.text(2, name).text(3, name).text(4, op);
    if (!domain.empty())
      n.text(7, domain);
    return node(n);
  }

  std::string constant(const std::string& name, element type, const sizes& shape,
                       wire_message values) {
    for (const auto size : shape)
      values.number(1, size);
    constants_.push_back(values.number(2, static_cast<std::int64_t>(type)).text(8, name));
    return name;
  }
  template<class Number>
  std::string numbers(const std::string& name, const sizes& shape,
                      const std::vector<Number>& values) {
    constexpr auto type = std::is_same_v<Number, float>    ? element::real32
                          : std::is_same_v<Number, double> ? element::real64
                                                           : element::whole64;
    const std::string_view raw(reinterpret_cast<const char*>(values.data()),
                               values.size() * sizeof(Number));
    return constant(name, type, shape, wire_message().text(9, raw));
  }
  std::string texts(const std::string& name, const names& values) {
    wire_message all;
    for (const auto& v : values)
      all.text(6, v);
    return constant(name, element::text, {static_cast<std::int64_t>(values.size())},
                    std::move(all));
  }
  std::string shape(const std::string& name, const sizes& values) {
    return numbers(name, {static_cast<std::int64_t>(values.size())}, values);
  }
  /// [-1, shape...]
  static sizes of_examples(const tensor_shape& s) {
    sizes out{-1};
    out.insert(out.end(), s.sizes.begin(), s.sizes.end());
    return out;
  }
  std::string cast(const std::string& from, element type, const std::string& name) {
    add("Cast", {from}, name).whole("to", static_cast<std::int64_t>(type));
    return name;
  }

  /// Declares the input for examples [N, shape...].
  void declare_input(const std::string& name, element type, const sizes& shape) {
    ins_.push_back(declared(name, type, shape));
  }
  void declare_output(const std::string& name, element type, const sizes& shape) {
    outs_.push_back(declared(name, type, shape));
  }

  /// For a graph that is an attribute: an input or output of real numbers of any shape.
  void declare_inner_input(const std::string& name) { ins_.push_back(any_reals(name)); }
  void declare_inner_output(const std::string& name) { outs_.push_back(any_reals(name)); }

  /// Texts that a program may ask the model for, by name.
  using metadata = std::vector<std::pair<std::string, std::string>>;

  /// The whole of it. `ml`: it has operators of ai.onnx.ml.
  [[nodiscard]] bytes model(const std::string& description, const metadata& properties,
                            bool ml) const {
    wire_message whole;
    whole.number(1, ir_version)
        .text(2, "clade")
        .text(6, description)
        .message(7, message());
    whole.message(8, wire_message().text(1, "").number(2, opset));
    if (ml)
      whole.message(8, wire_message().text(1, "ai.onnx.ml").number(2, ml_opset));
    for (const auto& [name, value] : properties)
      whole.message(14, wire_message().text(1, name).text(2, value));
    return whole.bytes();
  }

private:
  [[nodiscard]] wire_message message() const {
    wire_message graph;
    for (const auto& n : nodes_)
      graph.message(1, n);
    graph.text(2, "clade");
    for (const auto& c : constants_)
      graph.message(5, c);
    for (const auto& v : ins_)
      graph.message(11, v);
    for (const auto& v : outs_)
      graph.message(12, v);
    return graph;
  }
  static wire_message any_reals(const std::string& name) {
    const auto tensor =
        wire_message().number(1, static_cast<std::int64_t>(element::real32));
    return wire_message().text(1, name).message(2, wire_message().message(1, tensor));
  }
  /// An input or output of N examples.
  static wire_message declared(const std::string& name, element type,
                               const sizes& shape) {
    wire_message dimensions;
    dimensions.message(1, wire_message().text(2, "N"));
    for (const auto size : shape)
      dimensions.message(1, wire_message().number(1, size));
    const auto tensor =
        wire_message().number(1, static_cast<std::int64_t>(type)).message(2, dimensions);
    return wire_message().text(1, name).message(2, wire_message().message(1, tensor));
  }

  std::deque<wire_message> nodes_; // Handles to them stay good.
  std::vector<wire_message> constants_, ins_, outs_;
};

} // namespace clade
