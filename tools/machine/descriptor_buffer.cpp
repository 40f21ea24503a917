#include "tools/machine/descriptor_buffer.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace clade {

namespace {

constexpr std::size_t most_waiting = 1 << 14;
// After a signal that asks the process to end, a reader that does not read is not waited
// for any longer.
constexpr int patience_after_signal_ms = 1000;

std::atomic<bool> outlives_readers = false;

void end_for_want_of_a_reader() {
  if (outlives_readers)
    return;
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGPIPE);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(SIGPIPE);
}

/// Returns 0, or the errno of what failed.
int write_all(int descriptor, std::string_view text) {
  int patience_ms = -1;
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    const int why = errno;
    if (why != EINTR && why != EAGAIN)
      return why;
    if (why == EINTR)
      patience_ms = patience_after_signal_ms;
    pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&room, 1, patience_ms);
    if (ready < 0 && errno == EINTR)
      patience_ms = patience_after_signal_ms;
    else if (ready <= 0)
      return ready == 0 ? why : errno;
  }
  return 0;
}

} // namespace

void ignore_broken_connections() {
  // Whoever had it ignored before this process began wants errors of readers too.
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_IGN)
    outlive_readers();
}

void outlive_readers() {
  outlives_readers = true;
}

descriptor_buffer::descriptor_buffer(int descriptor, content what)
    : descriptor_(descriptor),
      terminal_(::isatty(descriptor) == 1),
      plain_(terminal_ || what == content::text) {}

descriptor_buffer::~descriptor_buffer() {
  const std::lock_guard lock(mutex_);
  // The beginning of a character that never came.
  if (const auto rest = made_plain_.finish(); !rest.empty())
    static_cast<void>(keep(rest) && write_out());
}

bool descriptor_buffer::put_data(std::string_view data) {
  return append(data, terminal_);
}

void descriptor_buffer::erase_line() {
  const std::lock_guard lock(mutex_);
  keep("\r\033[K");
}

int descriptor_buffer::cause() const {
  const std::lock_guard lock(mutex_);
  return cause_;
}

descriptor_buffer::int_type descriptor_buffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof()))
    return sync() == 0 ? traits_type::not_eof(c) : c;
  const char one = traits_type::to_char_type(c);
  return append({&one, 1}, plain_) ? c : traits_type::eof();
}

std::streamsize descriptor_buffer::xsputn(const char* text, std::streamsize size) {
  return append({text, static_cast<std::size_t>(size)}, plain_) ? size : 0;
}

int descriptor_buffer::sync() {
  const std::lock_guard lock(mutex_);
  return write_out() ? 0 : -1;
}

bool descriptor_buffer::append(std::string_view more, bool plain) {
  const std::lock_guard lock(mutex_);
  return plain ? keep(made_plain_.add(more)) : keep(made_plain_.finish()) && keep(more);
}

bool descriptor_buffer::keep(std::string_view more) {
  if (waiting_.size() + more.size() >= most_waiting)
    return write_out() && write_now(more);
  waiting_.append(more);
  const bool line = terminal_ && more.find('\n') != std::string_view::npos;
  return line ? write_out() : cause_ == 0;
}

bool descriptor_buffer::write_out() {
  const bool written = write_now(waiting_);
  waiting_.clear();
  return written;
}

bool descriptor_buffer::write_now(std::string_view text) {
  if (cause_ == 0)
    cause_ = write_all(descriptor_, text);
  if (cause_ == EPIPE)
    end_for_want_of_a_reader();
  return cause_ == 0;
}

} // namespace clade
