#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "genome/base/wakeable_queue.hpp"

#include <functional>
#include <future>
#include <string>

namespace clade {

/// The place where threads that may not use a feed have the one ask that does.
class feed_executor {
public:
  using question = std::function<expected<std::string>(feed&)>;

  /// Whether the system had a descriptor for it.
  [[nodiscard]] bool usable() const { return asked_.usable(); }

  /// Blocks until the question is answered. `refused`: the desk is closed.
  [[nodiscard]] expected<std::string> ask(question q);

  // For the feed's thread:

  /// Readable while something waits, and after `wake`.
  [[nodiscard]] int descriptor() const { return asked_.descriptor(); }
  /// Answers all that wait.
  void answer(feed& f);
  /// Answers nothing any more.
  void close();

  /// From any thread.
  void wake() const { asked_.wake(); }

private:
  struct asked_question {
    question what;
    std::promise<expected<std::string>> answer;
  };

  wakeable_queue<asked_question> asked_;
};

} // namespace clade
