#include "tools/cli/log_printer.hpp"

#include "engine/report/format.hpp"
#include "tools/machine/standard_streams.hpp"

#include <iostream>

namespace clade {

expected<void> log_printer::print(std::string_view text) {
  if (filter_)
    std::cout << filter_->add(text);
  else
    std::cout << text;
  return flush_output();
}

void log_printer::leave_out(std::uint64_t bytes) {
  if (filter_)
    std::cout << filter_->finish();
  std::cout << "\nclade: " << size_text(bytes)
            << " are left out here: the log was longer than --log-limit\n";
}

expected<void> log_printer::finish() {
  if (filter_)
    std::cout << filter_->finish();
  return flush_output();
}

} // namespace clade
