#pragma once

#include "engine/training/final/training_context.hpp"

namespace clade {

/// Chooses an ensemble among the members, the linear model and, of tables, boosted trees,
/// of sequences random convolutions (ensemble_choice.hpp), calibrates it and measures it on
/// the test part. It is not behind any of them alone by more than the examples that judge
/// them can tell (engine/run/steps/final_choice.hpp). Among the folds of a genome, each
/// example is judged by the one that was trained without it. A member that cannot be used,
/// because its weights are damaged, say, or because there is no time left for it, is left
/// out with all folds of its genome, and named; the first that is asked, one with folds or
/// else the first of `members`, is used however long it takes. Loads the data where they
/// are not loaded, and turns LibTorch's exceptions into errors of kind io. An interim one
/// has no test and no importance of columns, and no member that there is no time for.
///
/// Metrics of the final model and of single ones are of the validation part and, where all
/// examples of the train and the validation part judged it, of these:
/// "cross_validation.accuracy".
[[nodiscard]] expected<composition>
compose_final_model(training_context& context, std::span<const trained_member> members,
                    std::uint64_t seed, const budget& b, composition_purpose purpose);

} // namespace clade
