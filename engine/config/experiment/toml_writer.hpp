#pragma once

#include "engine/config/experiment/keys.hpp"
#include "engine/config/file/units.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// Visits the keys of a section (keys.hpp) and writes them as TOML, such that they are
/// read as the same values.
class toml_writer {
public:
  toml_writer() = default;
  /// Writes keys and strategies as search hashes are taken of them (spelling.hpp).
  static toml_writer for_hashes() {
    toml_writer w;
    w.for_hashes_ = true;
    return w;
  }

  void section(std::string_view name) {
    text_ += fmt::format("{}{}]\n", text_.empty() ? "[" : "\n[", name);
  }
  void section(std::string_view name, const auto& params) {
    section(name);
    keys(*this, params);
  }

  void key(std::string_view name, const std::string& v) { raw(name, quoted(v)); }
  void key(std::string_view name, std::integral auto v) { raw(name, std::to_string(v)); }
  void key(std::string_view name, bool v) { raw(name, v ? "true" : "false"); }
  void key(std::string_view name, double v) { raw(name, number(v)); }
  void key(std::string_view name, std::chrono::microseconds v) {
    raw(name, quoted(duration_literal(v)));
  }
  void key(std::string_view name, const tensor_shape& v) { raw(name, to_text(v)); }
  void key(std::string_view name, const std::vector<double>& v) {
    raw(name, fmt::format("[{}]", joined(v, ", ", number)));
  }
  /// The key is written only if it is true, so that what was resolved before there was
  /// such a key is the same.
  void flag(std::string_view name, bool v) {
    if (v)
      raw(name, "true");
  }
  void set(std::string_view name, const std::optional<std::uint64_t>& v) {
    if (v)
      key(name, *v);
  }
  void set(std::string_view name, const std::string& v) {
    if (!v.empty())
      key(name, v);
  }
  void unusual(std::string_view name, const auto& v, const auto& usual) {
    if (v != usual)
      key(name, v);
  }
  void unusual_list(std::string_view name, const auto& v, const auto& usual) {
    if (v != usual)
      list(name, v);
  }
  void strategy(std::string_view name, const std::string& v) { key(name, spelled(v)); }
  void unusual_strategies(std::string_view name, std::vector<std::string> v,
                          const auto& usual) {
    if (v == usual)
      return;
    for (auto& one : v)
      one = spelled(one);
    list(name, v);
  }
  void path(std::string_view name, const std::filesystem::path& v) {
    set(name, v.string());
  }
  void folder(std::string_view name, const std::filesystem::path& v) { path(name, v); }
  void kind(std::string_view name, const shared_evaluator_spec& v) {
    key(name, std::string(v->traits().name));
  }
  void size(std::string_view name, std::uint64_t v) { key(name, size_literal(v)); }
  void column(std::string_view name, const std::string& v) { key(name, v); }
  void devices(std::string_view name, const std::string& v) { key(name, v); }
  void numbers(std::string_view name, const std::vector<std::uint32_t>& v);
  void list(std::string_view name, const std::vector<std::string>& v);
  void lists(std::string_view name,
             const std::map<std::string, std::vector<std::string>>& v);
  void texts(std::string_view name, const std::vector<named_text>& v);
  void table(std::string_view name, bool written, const auto& inner) {
    if (!written)
      return;
    toml_writer own;
    own.for_hashes_ = for_hashes_;
    inner(own);
    raw(name, inline_table(own.take()));
  }
  template<class Enum, std::size_t count>
  void choice(std::string_view name, Enum v, const words<Enum, count>& known) {
    for (const auto& [word, meaning] : known)
      if (meaning == v)
        key(name, std::string(word));
  }
  template<class Enum, std::size_t count>
  void unusual_choice(std::string_view name, Enum v, Enum usual,
                      const words<Enum, count>& known) {
    if (v != usual)
      choice(name, v, known);
  }
  void slots_of_training(std::string_view name, const distribution_params& p);
  void collectives(std::string_view name, const collectives_params& p);
  void split(std::string_view name, const data_params& p);
  /// In the order in which they are read back.
  void columns(std::string_view name, std::vector<column_choice> choices);
  void weights(std::string_view name, const class_weights& v);
  void raw(std::string_view name, const std::string& v) {
    text_ += fmt::format("{} = {}\n", spelled(name), v);
    last_value_ = v;
  }

  static std::string number(double v);
  static std::string quoted(std::string_view v);

  [[nodiscard]] std::string take() { return std::move(text_); }
  /// Returns the value of the last key, as it was written.
  [[nodiscard]] const std::string& last_value() const { return last_value_; }

private:
  /// Makes it of lines of keys; no value has a line's end in it.
  static std::string inline_table(std::string lines);
  [[nodiscard]] std::string spelled(std::string_view name) const {
    return std::string(for_hashes_ ? spelling_of_hashes(name) : name);
  }

  std::string text_, last_value_;
  bool for_hashes_ = false;
};

} // namespace clade
