#pragma once

#include "engine/data/converted/converted_table.hpp"

namespace clade {

/// The module that reads Parquet and Arrow: libclade_arrow.so beside the program. Arrow's
/// library is linked to it alone, so that a program that reads none does not load it.
inline constexpr const char* arrow_module_name = "libclade_arrow.so";
inline constexpr const char* arrow_module_symbol = "clade_read_arrow";
/// Raised when what crosses changes.
inline constexpr std::uint32_t arrow_module_version = 1;

/// The function that the module exports under that name. False: the module is of another
/// build. Does not throw.
using read_arrow_function = bool (*)(std::uint32_t version, std::string_view bytes,
                                     const table_choice& which,
                                     expected<converted_table>& out);

} // namespace clade
