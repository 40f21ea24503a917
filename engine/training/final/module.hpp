#pragma once

#include "engine/training/asked/training_params.hpp"

namespace clade {

/// The contract on which both sides of the module's door must agree. It tells apart
/// builds that differ by intent or in the layout of what crosses; more is not needed,
/// since both are built at once.
struct training_module_contract {
  std::uint32_t version = 0;
  std::size_t setup_bytes = 0;
};

/// Raised when what crosses the door changes.
inline constexpr std::uint32_t training_module_version = 19;

inline constexpr const char* training_module_symbol = "clade_make_training";

/// The function that the module exports under that name. False: the contract is another
/// one, and nothing was made. Does not throw.
using make_training_function =
    bool (*)(training_module_contract contract, const training_setup& setup,
             expected<std::unique_ptr<fitness_function>>& made);

/// The same for what measures without training.
inline constexpr const char* zero_cost_symbol = "clade_make_zero_cost_scorer";
using make_zero_cost_function =
    bool (*)(training_module_contract contract, const training_setup& setup,
             expected<std::unique_ptr<zero_cost_scorer>>& made);

/// Opens a module with LibTorch for good and finds what it exports under that name.
[[nodiscard]] expected<void*> find_symbol(const std::filesystem::path& module,
                                          const char* symbol);

} // namespace clade
