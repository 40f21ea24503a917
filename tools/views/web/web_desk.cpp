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

expected<std::string> web_desk::ask(question q) {
  asked_question asked{.what = std::move(q), .answer = {}};
  auto answer = asked.answer.get_future();
  return asked_.put(std::move(asked)) ? answer.get() : closed_desk();
}

void web_desk::answer(feed& f) {
  for (auto& one : asked_.take())
    one.answer.set_value(one.what(f));
}

void web_desk::close() {
  asked_.close();
  for (auto& one : asked_.take())
    one.answer.set_value(closed_desk());
}

} // namespace clade
