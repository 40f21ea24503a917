#pragma once

#include "engine/evaluation/fitness_function.hpp"
#include "engine/training/asked/training_params.hpp"

namespace clade {

/// The fitness function that trains: decodes the genome, builds the network, trains it on
/// the setup's device and validates it after every epoch. An error if the setup asks for
/// something that no training has: a hyperparameter that nobody reads, a metric that the
/// task does not have, a device that is not there.
[[nodiscard]] expected<std::unique_ptr<fitness_function>>
make_trainer(const training_setup& setup);

} // namespace clade
