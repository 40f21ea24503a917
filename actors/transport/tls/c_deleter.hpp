#pragma once

namespace clade {

/// A deleter for std::unique_ptr: calls a function of a C library.
template<auto Free>
struct c_deleter {
  template<class T>
  void operator()(T* p) const {
    Free(p);
  }
};

} // namespace clade
