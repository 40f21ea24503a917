#pragma once

#include "engine/evaluation/fitness_function.hpp"
#include "engine/evaluation/program_host.hpp"
#include "genome/base/own_keys.hpp"
#include "search_spaces/operators/network.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

class benchmark_table;

/// The role of `[data]` in an experiment.
enum class data_role : std::uint8_t {
  examples,       ///< The examples that networks are trained on.
  shape,          ///< The shape and the classes of examples that do not exist.
  optional_shape, ///< The same, where there is such a section.
  none            ///< Nothing: there is no such section.
};

/// The traits of a kind of evaluator that the program asks for, beyond what an
/// `evaluator_spec` does.
struct evaluator_traits {
  std::string_view name; ///< `[experiment] fitness`, and the name of its own section.
  std::string_view does; ///< For the reference: "trains networks on [data]".
  /// The title of its own section in the reference; empty: it has none.
  std::string_view title;
  std::string_view experiment; ///< For messages: "a synthetic experiment".
  std::string_view run;        ///< For messages: "a synthetic run".
  data_role data = data_role::none;
  /// Evaluations train networks by `[training]` with LibTorch: they have weights to keep,
  /// to go on from and to export, and need the memory that such a training needs.
  bool trains = false;
  /// A file that its own section names describes the search space and the objective.
  bool described = false;
  /// The same candidate and seed give the same evaluation, wherever it is made.
  bool repeatable = true;
  /// How long one takes tells nothing of the next: none waits in a batch behind another.
  bool alone = false;
  /// Evaluations run a program of the user's, which has a log of its own.
  bool runs_program = false;
  /// The hyperparameter that names a candidate, which is a program and no network: views
  /// show it instead of a number, and nothing of evolution. Empty: there is none.
  std::string_view named_by{};
  /// A fork may change its own section.
  bool changes_in_forks = false;
};

/// The metrics that an objective may name.
struct evaluator_metrics {
  std::string of;         ///< For messages: "the synthetic fitness".
  std::vector<aim> all{}; ///< With the direction that is better; empty: any.
};

/// The parts that an evaluator is made from.
struct evaluator_setup {
  search_space space;
  clade::problem problem;
  objective goal;
  /// The table of a kind that is `described`.
  std::shared_ptr<const benchmark_table> table{};
  program_host host{}; ///< The host of a kind that runs programs.
};

/// One kind of evaluator with the values of its own section: what an experiment knows of
/// its fitness. A kind is a class of this in a folder of its own and a row in
/// registry.cpp. Only what `trains` is made elsewhere (engine/training).
class evaluator_spec {
public:
  virtual ~evaluator_spec() = default;

  [[nodiscard]] virtual const evaluator_traits& traits() const = 0;
  [[nodiscard]] virtual std::unique_ptr<evaluator_spec> clone() const = 0;

  /// Shows the keys of its own section in the order in which they are written.
  virtual void visit(own_keys&) {}
  [[nodiscard]] virtual expected<void> validate() const { return {}; }
  /// Whether its own section fits the space, and what its networks are for (null: nobody
  /// has said). The error's message begins with a key.
  [[nodiscard]] virtual expected<void> validate_for(const search_space&,
                                                    const problem*) const {
    return {};
  }
  /// Clears paths: where files lie does not decide a search.
  virtual void forget_places() {}

  /// Whether its evaluations give checkpoints, from which others go on.
  [[nodiscard]] virtual bool gives_checkpoints() const { return traits().trains; }
  /// How long after its time an evaluation may go on until it has ended.
  [[nodiscard]] virtual std::chrono::milliseconds grace() const {
    return std::chrono::milliseconds(0);
  }
  /// The epochs of a full evaluation; those of a training are in `[training]`.
  [[nodiscard]] virtual std::uint32_t epochs() const { return 1; }
  [[nodiscard]] virtual evaluator_metrics metrics() const { return {}; }
  /// Returns the aims by which parents are chosen if selection is by lexicase.
  [[nodiscard]] virtual std::vector<aim> cases(const objective& goal) const {
    return aims_of(goal);
  }
  /// How long an evaluation of so many epochs takes, if that is known before.
  [[nodiscard]] virtual std::optional<double> seconds(double) const {
    return std::nullopt;
  }
  /// The file of what it looks up; empty: it looks nothing up.
  [[nodiscard]] virtual std::filesystem::path file() const { return {}; }
  /// Whether this machine can evaluate; an error says what is missing.
  [[nodiscard]] virtual expected<void> check_machine() const { return {}; }
  [[nodiscard]] virtual expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const = 0;
};

/// A kind whose own section holds these parameters.
template<class Params>
class evaluator_spec_of : public evaluator_spec {
public:
  Params params;
};

/// The parameters of an evaluator's own section; nullptr if it is of another kind.
template<class Params>
[[nodiscard]] const Params* params_of(const evaluator_spec& spec) {
  const auto* of = dynamic_cast<const evaluator_spec_of<Params>*>(&spec);
  return of == nullptr ? nullptr : &of->params;
}

} // namespace clade
