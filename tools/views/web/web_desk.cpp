#include "tools/views/web/web_desk.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {

namespace {

tl::unexpected<error> closed_desk() {
  return fail(error_kind::refused, "the view is ending");
}

} // namespace

expected<std::unique_ptr<web_desk>> web_desk::make() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0)
    return fail(error_kind::io, std::string("no eventfd: ") + std::strerror(errno));
  return std::unique_ptr<web_desk>(new web_desk(event));
}

web_desk::~web_desk() {
  ::close(event_);
}

void web_desk::wake() const {
  // It fails only where the counter is full, which wakes as well.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

expected<std::string> web_desk::ask(question q) {
  std::future<expected<std::string>> answer;
  {
    const std::lock_guard lock(mutex_);
    if (closed_)
      return closed_desk();
    waiting_.push_back({.what = std::move(q), .answer = {}});
    answer = waiting_.back().answer.get_future();
  }
  wake();
  return answer.get();
}

std::deque<web_desk::asked> web_desk::take() {
  // It fails only where nothing was written, and then nothing needs to be read.
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void web_desk::answer(feed& f) {
  for (auto& one : take())
    one.answer.set_value(one.what(f));
}

void web_desk::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (auto& one : take())
    one.answer.set_value(closed_desk());
}

} // namespace clade
