#pragma once

#include "genome/blob.hpp"

namespace clade::test {

/// The content of a blob that is in memory.
inline bytes content_of(const blob& b) {
  return b.in_memory() ? *b.in_memory() : bytes();
}

} // namespace clade::test
