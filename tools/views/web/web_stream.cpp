#include "tools/views/web/web_stream.hpp"

#include <utility>

namespace clade {

void web_stream::push(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return;
  if (!unread_.empty() && unread_.size() + text.size() > most_bytes) {
    closed_ = true;
    unread_ = {};
  } else {
    unread_ += text;
  }
  came_.notify_all();
}

void web_stream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  came_.notify_all();
}

std::optional<std::string> web_stream::next(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, most, [this] { return closed_ || !unread_.empty(); });
  if (closed_)
    return std::nullopt;
  return std::exchange(unread_, {});
}

bool web_stream::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool web_streams::add(std::shared_ptr<web_stream> s) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& one) { return one->closed(); });
  if (closed_ || streams_.size() >= most)
    return false;
  streams_.push_back(std::move(s));
  return true;
}

void web_streams::remove(const std::shared_ptr<web_stream>& s) {
  s->close();
  const std::lock_guard lock(mutex_);
  std::erase(streams_, s);
}

void web_streams::push(const std::string& text) {
  const std::lock_guard lock(mutex_);
  for (const auto& s : streams_)
    s->push(text);
}

void web_streams::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& s : streams_)
    s->close();
}

} // namespace clade
