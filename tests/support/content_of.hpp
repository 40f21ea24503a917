#pragma once

#include "genome/codec/blob.hpp"

namespace clade::test {

/// The content of a blob that is in memory.
inline bytes content_of(const blob& b) {
  return b.in_memory() ? *b.in_memory() : bytes();
}

/// So many bytes that are not all alike.
inline bytes numbered(std::size_t size) {
  bytes b(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    b[i] = static_cast<char>(i / 1000 + i);
  return b;
}

} // namespace clade::test
