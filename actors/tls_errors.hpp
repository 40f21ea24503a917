#pragma once

namespace clade {

/// Whether the functions of tls_errors.cpp are the ones that every library of this
/// process calls, so that what goes wrong on one TLS connection stays with it. It is
/// false only if the program was linked in a way that hides them, which would be our
/// mistake.
[[nodiscard]] bool tls_errors_are_separate();

} // namespace clade
