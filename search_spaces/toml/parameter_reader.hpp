#pragma once

#include "genome/genes/grammar.hpp"
#include "search_spaces/operators/operators.hpp"

#include <toml++/toml.h>

#include <optional>
#include <string>

namespace clade {

/// Gives each key of this table its American name (spelling.hpp), unless that is there
/// too.
void use_american_keys(toml::table& table);

/// The faults of one file. Tables come in the order of their keys, so the reader goes on
/// after an error, and the one furthest up in the file is what its author is told.
class complaints {
public:
  explicit complaints(std::string origin) : origin_(std::move(origin)) {}

  void note(const toml::source_region& at, std::string message);

  /// "a.toml:3"
  [[nodiscard]] std::string place(const toml::source_region& at) const;
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] const std::optional<error>& first() const { return first_; }

private:
  std::string origin_;
  std::optional<error> first_;
  toml::source_index line_ = 0;
};

/// A value that a file gave, and the place where it stands.
template<class T>
struct located {
  T content;
  std::string place;
};

/// "a list", "true", "3.5": what stands there, for messages.
[[nodiscard]] std::string describe(const toml::node& node);

/// Returns whether a text has no control characters of ASCII, line ends included.
[[nodiscard]] bool is_one_line(std::string_view text);

/// A number as a real, the nearest where it is a whole one that no real equals; none of
/// what is no number.
[[nodiscard]] std::optional<double> real_of(const toml::node& node);

/// A whole number within these bounds; none of what is none, which is noted. `path` names
/// it in messages.
[[nodiscard]] std::optional<std::int64_t> whole_from(const toml::node& node,
                                                     const std::string& path,
                                                     std::int64_t low, std::int64_t high,
                                                     complaints& wrong);

/// How often something is drawn, relative to others; none of what is no such weight, which
/// is noted. `path` names what is drawn.
[[nodiscard]] std::optional<double>
weight_from(const toml::node& node, const std::string& path, complaints& wrong);

/// Every key of the table that is not known is a complaint, with the nearest known one.
/// `where` is the table's name, "operators.conv", or "" for the document.
void refuse_unknown(const toml::table& table, std::string_view where,
                    std::span<const std::string_view> known, complaints& wrong);

/// Reads a domain (its forms stand on top of parameter_reader.cpp). `entry` says what an
/// operator's setting may be; hyperparameters have none. `path` names it in messages:
/// "operators.conv.filters". If something is wrong, the result has a domain of one value.
[[nodiscard]] parameter read_parameter(std::string_view name, const std::string& path,
                                       const toml::node& node, const setting_entry* entry,
                                       complaints& wrong);

// Settings that somebody gives to layers and hyperparameters of a space: seeds, and points
// that are known.

/// Reads every key of the table but "op" into settings; each must be a number or a word.
/// `path` names the table in messages.
void read_settings(const toml::table& table, const std::string& path,
                   std::vector<setting>& into, complaints& wrong);

/// Says what is not in the space; empty: all is. A whole number is taken for a real where
/// the space has reals.
[[nodiscard]] std::string misfit(std::vector<setting>& given,
                                 const std::vector<parameter>& known,
                                 std::string_view place = "[hyperparameters]");

/// Says what of a layer is not in the space, its operator included.
[[nodiscard]] std::string misfit(node_gene& layer, const grammar& rules);

} // namespace clade
