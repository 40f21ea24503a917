#include "tools/cli/base/log_printer.hpp"

#include "engine/report/base/format.hpp"
#include "tools/machine/standard_streams.hpp"

#include <iostream>

namespace clade {

void log_printer::write(std::string_view text) {
  if (bare_)
    print_data(bare_->add(text));
  else
    print_data(text);
}

expected<void> log_printer::print(std::string_view text) {
  if (filter_)
    write(filter_->add(text));
  else
    write(text);
  return flush_output();
}

void log_printer::end_line() {
  if (filter_)
    write(filter_->finish());
  if (bare_)
    print_data(bare_->finish());
}

void log_printer::leave_out(std::uint64_t bytes) {
  end_line();
  std::cout << "\nclade: " << size_text(bytes)
            << " are left out here: the log was longer than --log-limit\n";
}

expected<void> log_printer::finish() {
  end_line();
  return flush_output();
}

} // namespace clade
