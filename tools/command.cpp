#include "tools/command.hpp"

#include <iostream>

namespace clade {

int report(const error& e) {
  // What was printed before belongs before it, also where both go to one file.
  std::cout.flush();
  std::cerr << "clade: " << e.message << std::endl;
  switch (e.kind) {
  case error_kind::invalid_input:
  case error_kind::not_found:
  case error_kind::corrupt:
  case error_kind::conflict:
  case error_kind::refused:
    return 2;
  case error_kind::io:
  case error_kind::internal:
    break;
  }
  return 1;
}

} // namespace clade
