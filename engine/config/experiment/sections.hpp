#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/config/file/table_reader.hpp"
#include "engine/evaluation/table/table_description.hpp"

#include <functional>

namespace clade {

/// Every metric that an evaluation of this experiment has, and whether it is to be
/// raised.
[[nodiscard]] std::vector<aim> known_aims(const experiment& e);

/// Whether a name of an experiment may have this character.
[[nodiscard]] bool is_name_character(char c);

/// Gives the search space that `[search_space]` describes: a file's, a built-in one's, or
/// the table's own. The sections of the experiment before it are read: [experiment] and,
/// where networks are trained, [data].
using space_loader =
    std::function<search_space(table_reader& table, const experiment& e)>;

/// Who wrote an experiment: what a resolved one does not say is as it was before it could
/// be said.
enum class written_by : std::uint8_t { people, clade };

/// Reads every section of an experiment. Errors are noted in the document.
[[nodiscard]] expected<experiment> read_experiment(document& d,
                                                   const std::filesystem::path& folder,
                                                   const space_loader& load_space,
                                                   written_by who);

/// The search space that a resolved experiment holds under `[search_space]`, beside the
/// name of the file that it came from.
[[nodiscard]] search_space read_own_space(table_reader& t, document& d);

/// Whether the document holds its search space itself, as a resolved experiment
/// (`to_toml`) does.
[[nodiscard]] bool has_own_space(const document& d);

/// `[objective]`: the metrics must be those that the experiment's evaluator gives, or
/// what a network costs. An evaluator that gives any has to be told one.
void read_objective(table_reader& table, const experiment& e, objective& out);

/// The same of a benchmark table: a metric that its description has. Not checked without
/// one.
void read_objective(table_reader& table, const table_description* described,
                    objective& out);

/// Finds the hyperparameters of the search space that training does not read, or would
/// refuse; and a key of `[training]` that somebody wrote although the space chooses that
/// value for each network. Notes the first of these in the document.
void check_hyperparameters(document& d, const experiment& e);

} // namespace clade
