#pragma once

#include "engine/config/experiment/keys.hpp"
#include "engine/config/file/table_reader.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
#include <utility>

namespace clade {

/// Visits the keys of a section (keys.hpp) and reads them; `folder` is where relative
/// paths start.
class key_reader {
public:
  explicit key_reader(table_reader& table, std::filesystem::path folder = {})
      : table_(table),
        folder_(std::move(folder)) {}

  void key(std::string_view name, auto& out) { table_.read(name, out); }
  void flag(std::string_view name, bool& out) { table_.read(name, out); }
  void set(std::string_view name, std::string& out) { table_.read(name, out); }
  void set(std::string_view name, std::optional<std::uint64_t>& out) {
    // Asked for in any case, so that it is a known key.
    std::uint64_t there = 0;
    table_.read(name, there);
    if (table_.has(name))
      out = there;
  }
  void unusual(std::string_view name, auto& out, const auto&) { key(name, out); }
  void unusual_list(std::string_view name, auto& out, const auto&) { list(name, out); }
  void strategy(std::string_view name, std::string& out) {
    key(name, out);
    out = american(out);
  }
  void unusual_strategies(std::string_view name, std::vector<std::string>& out,
                          const auto&) {
    list(name, out);
    for (auto& one : out)
      one = american(one);
  }
  void path(std::string_view name, std::filesystem::path& out) {
    table_.read_path(name, out, folder_);
  }
  void folder(std::string_view name, std::filesystem::path& out) {
    path(name, out);
    std::error_code failed; // Then it stays empty, which is no folder.
    if (out.empty())
      out = std::filesystem::absolute(folder_ / "file", failed)
                .lexically_normal()
                .parent_path();
  }
  void kind(std::string_view name, shared_evaluator_spec& out) {
    std::vector<std::pair<std::string_view, shared_evaluator_spec>> known;
    for (const auto& kind : evaluator_kinds())
      known.emplace_back(kind->traits().name, kind);
    table_.read_choice(name, out, std::span(std::as_const(known)));
  }
  void size(std::string_view name, std::uint64_t& out) { table_.read_size(name, out); }
  void column(std::string_view name, std::string& out) {
    table_.read_name_or_number(name, out);
  }
  void list(std::string_view name, std::vector<std::string>& out) {
    table_.read_list(name, out);
  }
  void lists(std::string_view name,
             std::map<std::string, std::vector<std::string>>& out) {
    auto inner = table_.table(name);
    for (const auto& one : inner.names())
      inner.read_list(one, out[one]);
    inner.finish();
  }
  void numbers(std::string_view name, std::vector<std::uint32_t>& out) {
    table_.read(name, out);
  }
  void texts(std::string_view name, std::vector<named_text>& out) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    out.clear();
    for (const auto& word : inner.names())
      inner.read(word, out.emplace_back(word, "").second);
    inner.finish();
  }
  void table(std::string_view name, bool, const auto& inner) {
    auto own = table_.table(name);
    key_reader reader(own, folder_);
    inner(reader);
    own.finish();
  }
  void devices(std::string_view name, std::string& out) {
    std::vector<std::string> several;
    table_.read_list(name, several);
    if (!table_.has(name))
      return;
    out.clear();
    for (const std::string& d : several)
      out += (out.empty() ? "" : ",") + d;
  }
  template<class Enum, std::size_t count>
  void choice(std::string_view name, Enum& out, const words<Enum, count>& known) {
    table_.read_choice(name, out, std::span(known));
  }
  void weights(std::string_view name, class_weights& out) {
    if (!table_.holds_table(name)) {
      constexpr words<bool, 2> known{{{"none", false}, {"balanced", true}}};
      table_.read_choice(name, out.balanced, std::span(known));
      return;
    }
    auto inner = table_.table(name);
    for (const auto& label : inner.names())
      inner.read(label, out.by_class.emplace_back(label, 1.0).second);
    inner.finish();
  }
  template<class Enum, std::size_t count>
  void unusual_choice(std::string_view name, Enum& out, Enum,
                      const words<Enum, count>& known) {
    choice(name, out, known);
  }
  void slots_of_training(std::string_view name, distribution_params& p) {
    if (table_.holds_text(name)) {
      constexpr words<bool, 1> known{{{"fit", true}}};
      bool fit = false;
      table_.read_choice(name, fit, std::span(known));
      if (fit)
        p.fit_bytes = 0; // Until limits are read.
      return;
    }
    if (table_.holds_list(name)) {
      std::vector<std::string> named;
      table_.read_list(name, named);
      return table_.fail(
          name,
          fmt::format("training.{} says how many slots a training takes, not which; "
                      "slots.local names them, and devices = {} takes all of these",
                      name, named.size()));
    }
    if (!table_.holds_table(name))
      return key(name, p.devices);
    auto inner = table_.table(name);
    inner.read("servers", p.servers);
    inner.read("workers", p.workers);
    inner.finish();
    // A value out of range is left to `validate`, without an overflow.
    p.devices = p.servers > most_devices || p.workers > most_devices
                    ? most_devices + 1
                    : p.servers + p.workers;
  }
  void collectives(std::string_view name, collectives_params& p) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    inner.read("backend", p.backend);
    inner.read("network", p.network);
    inner.finish();
  }
  void split(std::string_view name, data_params& p) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    // By time or group alone, the shares may stay as they are.
    if (inner.has("train") || inner.has("validation") || inner.has("test"))
      p.train = p.validation = p.test = 0;
    inner.read("train", p.train);
    inner.read("validation", p.validation);
    inner.read("test", p.test);
    constexpr words<split_rule, 3> rules{{{"random", split_rule::random},
                                          {"time", split_rule::time},
                                          {"group", split_rule::group}}};
    inner.read_choice("by", p.split_by, std::span(rules));
    inner.read_name_or_number("column", p.split_column);
    inner.finish();
  }
  void columns(std::string_view name, std::vector<column_choice>& out) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    out.clear();
    for (const std::string& column : inner.names()) {
      std::string kind;
      inner.read(column, kind);
      if (const auto known = parse_encoding_kind(kind))
        out.push_back({column, *known});
      else
        inner.fail(
            column,
            fmt::format("data.columns: {} is \"{}\"; a column is a \"number\", "
                        "\"category\", \"yes_no\", \"date\" or \"text\", or \"ignore\"",
                        column, kind));
    }
    inner.finish();
  }

private:
  table_reader& table_;
  std::filesystem::path folder_;
};

} // namespace clade
