#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clade {

/// Says what is wrong with a line that is no TOML, and what to write instead.
/// `text` is the whole document, `line` counts from 1, and `description` is what the TOML
/// parser said, which is returned without its first words where the mistake is none of
/// those that people make most.
[[nodiscard]] std::string toml_mistake(std::string_view text, std::size_t line,
                                       std::string_view description);

} // namespace clade
