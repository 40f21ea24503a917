#include "tools/machine/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace clade {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
      continue;
    // The lowest free number is that of the stream. If there is no /dev, a folder is as
    // unreadable and as unwritable.
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      ::open("/", O_RDONLY | O_DIRECTORY);
  }
}

checked_output::checked_output()
    : buffer_(STDOUT_FILENO, descriptor_buffer::content::text),
      errors_(STDERR_FILENO, descriptor_buffer::content::text),
      before_(std::cout.rdbuf(&buffer_)),
      errors_before_(std::cerr.rdbuf(&errors_)) {}

checked_output::~checked_output() {
  std::cout.flush();
  std::cout.rdbuf(before_);
  std::cerr.rdbuf(errors_before_);
}

void print_data(std::string_view data) {
  auto* known = dynamic_cast<descriptor_buffer*>(std::cout.rdbuf());
  if (known == nullptr)
    std::cout << data;
  else if (!known->put_data(data))
    std::cout.setstate(std::ios_base::badbit);
}

void erase_line() {
  if (auto* known = dynamic_cast<descriptor_buffer*>(std::cout.rdbuf()))
    known->erase_line();
}

expected<void> flush_output() {
  errno = 0;
  const bool other = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  int cause = errno;
  std::cout.flush();
  if (other && std::cout)
    return {};
  if (const auto* known = dynamic_cast<const descriptor_buffer*>(std::cout.rdbuf());
      known != nullptr && known->cause() != 0)
    cause = known->cause();
  return fail(
      error_kind::io,
      "standard output cannot be written"
          + (cause == 0 ? std::string() : std::string(": ") + std::strerror(cause)));
}

} // namespace clade
