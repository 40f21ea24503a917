#pragma once

#include "genome/base/error.hpp"
#include "tools/machine/descriptor_buffer.hpp"

#include <string_view>

namespace clade {

/// Puts /dev/null in the place of standard input, output and error, as far as they are
/// closed, so that no file that is opened later gets their number. It is opened the wrong
/// way round: whoever reads or writes it gets an error, as if the stream were closed.
void open_missing_streams();

/// While it lives, std::cout knows why it cannot be written, and what std::cout and
/// std::cerr are given is made plain (`plain_text`), whoever wrote it: neither a terminal
/// nor `| tee` gets orders out of a name. For main().
class checked_output {
public:
  checked_output();
  checked_output(const checked_output&) = delete;
  checked_output& operator=(const checked_output&) = delete;
  ~checked_output();

private:
  descriptor_buffer buffer_, errors_;
  std::streambuf *before_, *errors_before_;
};

/// Writes `data` to standard output as it is, such as a log or a model's predictions, but
/// for a terminal, which is shown it as all else.
void print_data(std::string_view data);

/// Begins the line of the terminal that is standard output anew, for a line that changes.
void erase_line();

/// Writes what std::cout and stdout still hold. `io` if that, or anything before, could
/// not be written.
[[nodiscard]] expected<void> flush_output();

} // namespace clade
