#include "engine/training/final/failure.hpp"

#include "genome/base/text.hpp"

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

namespace clade {

failure failure_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {outcome::out_of_memory, "the memory ran out"};
  } catch (const c10::OutOfMemoryError& e) {
    return {outcome::out_of_memory, first_line_of(e.what_without_backtrace())};
  } catch (const c10::AcceleratorError& e) {
    std::fprintf(stderr, "%s\n", first_line_of(e.what_without_backtrace()).c_str());
    std::abort();
  } catch (const c10::Error& e) {
    const std::string what = first_line_of(e.what_without_backtrace());
    const bool memory = what.find("can't allocate memory") != std::string::npos
                        || what.find("not enough memory") != std::string::npos;
    return {memory ? outcome::out_of_memory : outcome::invalid, what};
  } catch (const std::system_error& e) {
    return {outcome::invalid, first_line_of(e.what()), true};
  } catch (const std::exception& e) {
    return {outcome::invalid, first_line_of(e.what())};
  } catch (...) {
    return {outcome::invalid, "an exception of unknown type"};
  }
}

} // namespace clade
