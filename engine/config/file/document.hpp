#pragma once

#include "genome/base/error.hpp"

#include <toml++/toml.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace clade {

/// A TOML document on its way to becoming values, with what is needed to say where
/// something in it stands, and the first thing that was found wrong.
struct document {
  /// The words by which people set a key: "--set " and "a.b".
  struct overriding {
    std::string option, key;
  };

  toml::table root;
  std::string origin; ///< The file, for messages.
  /// Dotted keys that came from the command line; one of them may have been written in its
  /// other spelling.
  std::map<std::string, overriding> overridden;
  std::optional<error> wrong;

  /// "x.toml:14", "--set evolution.population"; line 1 for what is not there.
  [[nodiscard]] std::string place(const std::string& key, const toml::node* node) const;
};

/// Broken TOML is "x.toml:3: ...".
[[nodiscard]] expected<document> parse_document(std::string_view text,
                                                std::string_view origin);

/// Sets "evolution.population=48": the value is TOML, or else a bare word, which is a
/// string. `option` is what people wrote before it.
[[nodiscard]] expected<void> apply_override(document& d, std::string_view assignment,
                                            const std::string& option = "--set ");

} // namespace clade
