#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/export/model/model_file.hpp"
#include "engine/store/run/store.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// A candidate of a run with its weights and the preprocessing of its data: what `export`
/// and `predict` work with.
struct trained_candidate {
  clade::experiment experiment;
  std::shared_ptr<const genome> genes; ///< The genome whose names the weights have.
  trained_network trained;
  candidate_id id = 0; ///< 0: a model that was put together of these members.
  std::vector<mixture_member> members{};
  bool interim = false; ///< It is what a run that is under way has put together last.
  std::vector<metric> metrics{};
};

/// Finds a network in a run's store. `text` names a candidate. If it is empty, the final
/// model is taken; without one the champion, and while there is none of either, what was
/// put together last, or the best candidate where that is ahead of it. Reads the training data, from which the preprocessing is fitted again, and
/// makes sure that it is what the run had. An error says what is missing: weights that
/// were not kept, the data, a candidate that succeeded, networks that were trained at
/// all.
[[nodiscard]] expected<trained_candidate> find_trained(const std::filesystem::path& file,
                                                       const std::string& name,
                                                       const std::string& text);

/// Its folder's, or that of a copy of its store.
[[nodiscard]] std::string name_of_run(const std::filesystem::path& file);

/// The same, ready to be written.
[[nodiscard]] expected<exported_model> find_exported(const std::filesystem::path& file,
                                                     const std::string& text);

/// Whether `predict` is to take it for a model's file: any file but a run's store, or
/// what has the name of a model and is not there.
[[nodiscard]] bool names_model(const std::filesystem::path& text);

} // namespace clade
