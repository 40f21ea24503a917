#pragma once

#include "engine/telemetry/feed.hpp"

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>

namespace clade {

/// Where threads that may not use a feed have the one ask that does.
class web_desk {
public:
  using question = std::function<expected<std::string>(feed&)>;

  [[nodiscard]] static expected<std::unique_ptr<web_desk>> make();
  ~web_desk();
  web_desk(const web_desk&) = delete;
  web_desk& operator=(const web_desk&) = delete;

  /// Blocks until the question is answered. `refused`: the desk is closed.
  [[nodiscard]] expected<std::string> ask(question q);

  // For the feed's thread:

  /// Readable while something waits, and after `wake`.
  [[nodiscard]] int descriptor() const { return event_; }
  /// Answers all that wait.
  void answer(feed& f);
  /// Answers nothing any more.
  void close();

  /// From any thread.
  void wake() const;

private:
  struct asked {
    question what;
    std::promise<expected<std::string>> answer;
  };

  explicit web_desk(int event) : event_(event) {}
  [[nodiscard]] std::deque<asked> take();

  int event_;
  std::mutex mutex_;
  std::deque<asked> waiting_;
  bool closed_ = false;
};

} // namespace clade
