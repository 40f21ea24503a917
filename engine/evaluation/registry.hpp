#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

#include <span>

namespace clade {

using shared_evaluator_spec = std::shared_ptr<const evaluator_spec>;

/// Every kind of evaluator, with the defaults of its own section. The first is that of an
/// experiment that names none.
[[nodiscard]] std::span<const shared_evaluator_spec> evaluator_kinds();

} // namespace clade
