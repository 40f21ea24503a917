#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/table/table.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// Reads what describes a benchmark table (the format stands on top of table_file.cpp)
/// and what it includes; not the table. "x.toml:9: ..." for what is wrong.
[[nodiscard]] expected<table_description>
load_table_description(const std::filesystem::path& file);

/// The same from text, which may not include others; `origin` is the file's path.
[[nodiscard]] expected<table_description>
parse_table_description(std::string_view text, const std::filesystem::path& origin);

/// The benchmark table that an experiment searches. Fails if its description no longer
/// has the experiment's search space or objective, or nothing within `[table] epochs`.
[[nodiscard]] expected<std::shared_ptr<const benchmark_table>>
load_table(const experiment& e);

} // namespace clade
