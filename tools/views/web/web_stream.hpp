#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Texts on their way to one reader. Whoever writes never waits: a reader that is too
/// slow is cut, and begins anew when it comes back.
class web_stream {
public:
  static constexpr std::size_t most_bytes = 8 << 20;

  /// Too much unread cuts; one text, however long, is not too much.
  void push(const std::string& text);
  void close();
  /// All that is unread; waits for it for at most so long, and is empty then. None: cut
  /// or closed.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds most);
  [[nodiscard]] bool closed() const;

private:
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::string unread_;
  bool closed_ = false;
};

/// The streams of all readers.
class web_streams {
public:
  static constexpr std::size_t most = 64;

  /// False: there are too many, or all were closed for good.
  [[nodiscard]] bool add(std::shared_ptr<web_stream> s);
  void remove(const std::shared_ptr<web_stream>& s);
  void push(const std::string& text);
  void close();

private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<web_stream>> streams_;
  bool closed_ = false;
};

} // namespace clade
