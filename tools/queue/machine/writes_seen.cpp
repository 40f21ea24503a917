// The kernel counts what a process has written, but not where, and knows where a file is,
// but not who has written it. So both are looked at again and again: the files that are open
// at a moment are known to be the entry's, and who writes as much as a disk loses, whenever
// it loses something, is the one that fills it.
#include "tools/queue/machine/writes_seen.hpp"

#include "engine/evaluation/process/written_bytes.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <system_error>

namespace clade {

namespace {

constexpr std::uint64_t stat_block_bytes = 512; ///< In which stat counts.

/// More are not remembered: a look may find as many as a process may open.
constexpr std::size_t most_files = 1024;
/// Fewer falls of the disk tell nothing, nor do smaller ones.
constexpr std::uint64_t least_falls = 5, least_fall_bytes = 64 << 10;

bool is_about(std::uint64_t bytes, std::uint64_t others, double within) {
  const auto least = static_cast<double>(others) * (1 - within),
             most = static_cast<double>(others) * (1 + within);
  const auto its = static_cast<double>(bytes);
  return its >= least && its <= most;
}

std::optional<written_file> regular(const struct stat& file, std::filesystem::path path) {
  if (!S_ISREG(file.st_mode))
    return std::nullopt;
  return written_file{.device = file.st_dev,
                      .number = file.st_ino,
                      .path = std::move(path),
                      .bytes =
                          static_cast<std::uint64_t>(file.st_blocks) * stat_block_bytes};
}

/// Returns a file as it is now; none: another one, or none, is where it was.
std::optional<written_file> now(const written_file& f) {
  struct stat file {};
  if (::lstat(f.path.c_str(), &file) != 0 || file.st_dev != f.device
      || file.st_ino != f.number)
    return std::nullopt;
  return regular(file, f.path);
}

} // namespace

std::vector<written_file> files_open_to_write(pid_t root,
                                              std::span<const process_entry> all) {
  std::vector<written_file> files;
  for (const auto& process : below(root, all))
    for (const auto& one : files_written_by(process.id)) {
      struct stat file {};
      std::error_code gone; // Processes end and files are closed meanwhile.
      if (::stat(one.c_str(), &file) != 0)
        continue;
      if (auto found = regular(file, std::filesystem::read_symlink(one, gone)))
        files.push_back(std::move(*found));
    }
  return files;
}

std::uint64_t bytes_written_below(pid_t root, std::span<const process_entry> all,
                                  bool by_calls) {
  const auto of = [&](pid_t process) {
    const auto its = bytes_written_by(process);
    return by_calls ? its.by_calls : its.to_disks;
  };
  auto sum = of(root);
  for (const auto& process : below(root, all))
    sum += of(process.id);
  return sum;
}

void writes_seen::add(std::vector<written_file> open, std::uint64_t written,
                      std::uint64_t free) {
  for (auto& file : open) {
    const std::pair number(file.device, file.number);
    if (files_.size() < most_files || files_.contains(number))
      files_[number] = std::move(file);
  }
  // Processes that nobody waits for take their count with them.
  const auto more = written - std::min(written, written_);
  if (looked_ && free < free_) {
    const auto loss = free_ - free;
    lost_ += loss;
    written_meanwhile_ += more;
    if (loss >= least_fall_bytes) {
      ++falls_;
      matching_ += is_about(more, loss, 0.5) ? 1 : 0;
    }
  } else if (free > free_ && free - free_ > lost_ / 2) {
    lost_ = written_meanwhile_ = falls_ = matching_ = 0; // Room was made.
  }
  written_ = written;
  free_ = free;
  looked_ = true;
}

std::vector<written_file> writes_seen::still_there(dev_t disk) const {
  std::vector<written_file> there;
  for (const auto& [_, file] : files_)
    if (file.device == disk)
      if (auto found = now(file))
        there.push_back(std::move(*found));
  return there;
}

std::uint64_t writes_seen::bytes_lost_by_it() const {
  return falls_ >= least_falls && matching_ * 4 >= falls_ * 3
                 && is_about(written_meanwhile_, lost_, 0.25)
             ? written_meanwhile_
             : 0;
}

} // namespace clade
