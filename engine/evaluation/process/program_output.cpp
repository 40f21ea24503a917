#include "engine/evaluation/process/program_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t longest_line = 1 << 20;
// So that who writes without end does not keep its reader from looking at the clock.
constexpr int most_blocks_at_once = 16;

} // namespace

void program_log::append(std::string_view text) {
  if (file_.empty() || !trouble_.empty() || left_ == 0 || text.empty())
    return;
  if (!open_) {
    open_.reset(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!open_) {
      trouble_ = fmt::format("{}: {}", file_.string(), std::strerror(errno));
      return;
    }
  }
  const auto part = text.substr(0, left_);
  left_ -= part.size();
  write(part);
  if (left_ == 0)
    write("\nclade: this log is full; what the program writes further is left out\n");
}

void program_log::write(std::string_view text) {
  while (!text.empty() && trouble_.empty()) {
    const auto count = ::write(open_.get(), text.data(), text.size());
    if (count >= 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      trouble_ = fmt::format("{}: {}", file_.string(), std::strerror(errno));
  }
}

void line_splitter::add(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto part = text.substr(0, end);
    too_long_ = too_long_ || line_.size() + part.size() > longest_line;
    if (too_long_)
      line_.clear();
    else
      line_.append(part);
    if (end == std::string_view::npos)
      return;
    if (!too_long_)
      on_line_(line_);
    line_.clear();
    too_long_ = false;
    text.remove_prefix(end + 1);
  }
}

void line_splitter::finish() {
  if (!line_.empty())
    on_line_(std::exchange(line_, {}));
}

program_stream::program_stream(unique_fd from, std::size_t most_kept, program_log& log,
                               line_listener on_line)
    : from_(std::move(from)),
      most_kept_(most_kept),
      log_(log) {
  if (on_line)
    lines_.emplace(std::move(on_line));
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

bool program_stream::read_block() {
  std::array<char, 64 << 10> block;
  const auto count = ::read(from_.get(), block.data(), block.size());
  if (count < 0)
    return errno == EINTR;
  if (count == 0) {
    from_.reset();
    return false;
  }
  const std::string_view text(block.data(), static_cast<std::size_t>(count));
  log_.append(text);
  kept_.append(text);
  if (kept_.size() > 2 * most_kept_)
    kept_.erase(0, kept_.size() - most_kept_);
  if (lines_)
    lines_->add(text);
  return true;
}

void program_stream::read() {
  for (int i = 0; from_ && i < most_blocks_at_once && read_block(); ++i) {
  }
}

void program_stream::read_rest() {
  while (from_ && read_block()) {
  }
  if (lines_)
    lines_->finish();
}

std::string program_stream::take() {
  if (kept_.size() > most_kept_)
    kept_.erase(0, kept_.size() - most_kept_);
  return std::move(kept_);
}

} // namespace clade
