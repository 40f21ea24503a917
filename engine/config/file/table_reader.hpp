#pragma once

#include "engine/config/file/document.hpp"
#include "search_spaces/operators/shape.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace clade {

/// Reads one table of a document into variables that hold defaults. It remembers which
/// keys were asked for; those are the known ones, and `finish` refuses the rest. The
/// first error is kept in the document, with its place; after it, reading goes on and
/// changes nothing that matters.
class table_reader {
public:
  explicit table_reader(document& d) : document_(&d), table_(&d.root) {}

  /// A table in this one; one without keys if it is not there.
  [[nodiscard]] table_reader table(std::string_view key);

  [[nodiscard]] bool present() const { return table_ != nullptr; }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Whether that key is there and holds a table.
  [[nodiscard]] bool holds_table(std::string_view key) const;
  /// The same of a text, and of a list.
  [[nodiscard]] bool holds_text(std::string_view key) const;
  [[nodiscard]] bool holds_list(std::string_view key) const;
  /// Its keys, where any word may be one.
  [[nodiscard]] std::vector<std::string> names() const;

  void read(std::string_view key, std::string& out);
  void read(std::string_view key, bool& out);
  void read(std::string_view key, double& out);
  void read(std::string_view key, std::int64_t& out);
  void read(std::string_view key, std::uint64_t& out);
  void read(std::string_view key, std::uint32_t& out);
  void read(std::string_view key, std::chrono::milliseconds& out);
  void read(std::string_view key, std::chrono::microseconds& out);
  void read(std::string_view key, tensor_shape& out);
  void read(std::string_view key, std::vector<std::uint32_t>& out);
  void read(std::string_view key, std::vector<double>& out);
  /// Relative ones are taken from `folder`; the result is absolute.
  void read_path(std::string_view key, std::filesystem::path& out,
                 const std::filesystem::path& folder);
  void read_size(std::string_view key, std::uint64_t& out);
  /// A string, or a whole number as text.
  void read_name_or_number(std::string_view key, std::string& out);
  /// One string or a list of them; whole numbers are taken as text.
  void read_list(std::string_view key, std::vector<std::string>& out);
  /// One of a few words.
  template<class Enum>
  void read_choice(
      std::string_view key, Enum& out,
      std::span<const std::pair<std::string_view, std::type_identity_t<Enum>>> words) {
    std::vector<std::string> known;
    for (const auto& w : words)
      known.emplace_back(w.first);
    const std::size_t i = choice(key, known);
    if (i < known.size())
      out = words[i].second;
  }

  /// Returns the place of that key, or of the table if the key is not there: "x.toml:14".
  [[nodiscard]] std::string place(std::string_view key) const;

  /// Notes an error at that key, or at the table where the key is not there.
  void fail(std::string_view key, std::string message);
  /// Notes an error of a `validate`, at the key that its message names first.
  void check(const expected<void>& valid);
  /// A key that nobody asked for is an error, with the nearest of those that were.
  void finish();

private:
  [[nodiscard]] const toml::node* find(std::string_view key) const;
  const toml::node* ask(std::string_view key);
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] std::size_t choice(std::string_view key,
                                   const std::vector<std::string>& words);
  void mismatch(std::string_view key, std::string_view wanted, const toml::node& there);
  template<class Number, class Parse>
  void read_numbers(std::string_view key, const char* wanted, std::vector<Number>& out,
                    Parse parse);
  std::int64_t whole(std::string_view key, std::int64_t low, std::uint64_t high,
                     std::int64_t otherwise);
  std::chrono::microseconds duration(std::string_view key,
                                     std::chrono::microseconds otherwise);

  document* document_;
  const toml::table* table_ = nullptr;
  std::string path_;
  std::vector<std::string> asked_;
};

} // namespace clade
