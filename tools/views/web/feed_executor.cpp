#include "tools/views/web/feed_executor.hpp"

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

expected<std::string> feed_executor::ask(question q) {
  asked_question asked{.what = std::move(q), .answer = {}};
  auto answer = asked.answer.get_future();
  return asked_.put(std::move(asked)) ? answer.get() : closed_desk();
}

void feed_executor::answer(feed& f) {
  for (auto& one : asked_.take())
    one.answer.set_value(one.what(f));
}

void feed_executor::close() {
  asked_.close();
  for (auto& one : asked_.take())
    one.answer.set_value(closed_desk());
}

} // namespace clade
