#pragma once

#include "genome/error.hpp"
#include "tools/machine/descriptor_buffer.hpp"

namespace clade {

/// Puts /dev/null in the place of standard input, output and error, as far as they are
/// closed, so that no file that is opened later gets their number. It is opened the wrong
/// way round: whoever reads or writes it gets an error, as if the stream were closed.
void open_missing_streams();

/// While it lives, std::cout knows why it cannot be written. For main().
class checked_output {
public:
  checked_output();
  checked_output(const checked_output&) = delete;
  checked_output& operator=(const checked_output&) = delete;
  ~checked_output();

private:
  descriptor_buffer buffer_;
  std::streambuf* before_;
};

/// Writes what std::cout and stdout still hold. `io` if that, or anything before, could
/// not be written.
[[nodiscard]] expected<void> flush_output();

} // namespace clade
