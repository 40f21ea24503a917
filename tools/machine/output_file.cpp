#include "tools/machine/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>
#include <utility>

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40; // The number of links that the kernel follows.

tl::unexpected<error> cannot(const fs::path& file, int cause) {
  const bool machine =
      cause == ENOSPC || cause == EIO || cause == EFBIG || cause == EDQUOT;
  return fail(machine ? error_kind::io : error_kind::invalid_input,
              fmt::format("cannot write {}: {}", file.string(), std::strerror(cause)));
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// The number of a descriptor of this process that the path is a name of; -1: none.
int descriptor_named(const fs::path& path) {
  const auto name = path.filename().string();
  if (name.empty() || name.size() > 6
      || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
    return -1;
  std::error_code failed;
  const auto folder = fs::canonical(folder_of(path), failed);
  if (failed || folder != fs::canonical("/proc/self/fd", failed) || failed)
    return -1;
  return std::stoi(name);
}

/// The place to which a path leads in the end.
struct place {
  fs::path path;
  int descriptor = -1; ///< The descriptor of this process, if it leads there.
};

/// A link that leads nowhere yet leads to what is to be made.
expected<place> follow(const fs::path& named) {
  auto at = named;
  for (int links = 0; links < most_links; ++links) {
    if (const int own = descriptor_named(at); own >= 0)
      return place{.path = at, .descriptor = own};
    std::error_code none;
    const auto to = fs::read_symlink(at, none);
    if (none)
      return place{.path = at};
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return cannot(named, ELOOP);
}

/// The file at a path, links followed.
struct found {
  bool there = false, regular = false, folder = false, fifo = false;
  bool replaceable =
      false; ///< By a rename, which nobody would notice but by the content.
  mode_t mode = 0;
};

expected<found> look_at(const fs::path& path) {
  struct statx is {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS, &is) != 0) {
    if (errno == ENOENT)
      return found{};
    return cannot(path, errno);
  }
  return found{.there = true,
               .regular = S_ISREG(is.stx_mode),
               .folder = S_ISDIR(is.stx_mode),
               .fifo = S_ISFIFO(is.stx_mode),
               .replaceable = S_ISREG(is.stx_mode) && is.stx_nlink == 1
                              && is.stx_uid == ::geteuid()
                              && (is.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0,
               .mode = static_cast<mode_t>(is.stx_mode & 0777)};
}

/// Calls `make` with names in the folder until one is free. Returns what it does: -1 and
/// errno where no name can be had.
template<class Make>
int with_free_name(const fs::path& folder, fs::path& name, Make make) {
  for (int number = 0;; ++number) {
    name = folder / (fmt::format(".clade-{}-{}", ::getpid(), number));
    const int made = make(name.c_str());
    if (made >= 0 || errno != EEXIST)
      return made;
  }
}

/// Makes a new file in the folder, with the mode that new files have: without a name if
/// the file system can do that, so that a command that is killed leaves nothing. Returns
/// none and errno where it cannot be made.
unique_fd make_beside(const fs::path& folder, fs::path& name) {
  constexpr int flags = O_WRONLY | O_CLOEXEC;
  unique_fd nameless(::open(folder.c_str(), flags | O_TMPFILE, 0666));
  if (nameless || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return nameless;
  return unique_fd(with_free_name(folder, name, [](const char* free) {
    return ::open(free, flags | O_CREAT | O_EXCL, 0666);
  }));
}

/// Whether an output would destroy what a run has recorded.
bool is_of_a_store(const fs::path& path) {
  std::error_code failed;
  if (path.filename().string().starts_with("run.db")
      && fs::exists(folder_of(path) / "run.db", failed))
    return true;
  constexpr std::string_view sqlite("SQLite format 3", 16); // With its zero byte.
  std::array<char, sqlite.size()> begin{};
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = file ? ::read(file.get(), begin.data(), begin.size()) : -1;
  return size == static_cast<ssize_t>(sqlite.size())
         && std::string_view(begin.data(), begin.size()) == sqlite;
}

/// Opens a FIFO to write, when somebody reads it.
unique_fd open_fifo(const fs::path& path,
                    const std::function<void(const fs::path&)>& waits) {
  const int flags = O_WRONLY | O_CLOEXEC;
  unique_fd fifo(::open(path.c_str(), flags | O_NONBLOCK));
  if (fifo)
    ::fcntl(fifo.get(), F_SETFL, O_WRONLY);
  if (fifo || errno != ENXIO)
    return fifo;
  waits(path);
  return unique_fd(::open(path.c_str(), flags));
}

/// While it lives, signals that would end the process wait, so that it cannot end between
/// two steps that belong together. Only SIGKILL can.
class held_signals {
public:
  held_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~held_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

private:
  sigset_t before_{};
};

} // namespace

output_file::output_file(fs::path named, fs::path target, fs::path beside,
                         unique_fd descriptor)
    : named_(std::move(named)),
      target_(std::move(target)),
      beside_(std::move(beside)),
      descriptor_(std::move(descriptor)),
      buffer_(std::make_unique<descriptor_buffer>(descriptor_.get())),
      stream_(std::make_unique<std::ostream>(buffer_.get())) {}

output_file::output_file(output_file&& other) noexcept
    : named_(std::move(other.named_)),
      target_(std::move(other.target_)),
      beside_(std::exchange(other.beside_, {})),
      descriptor_(std::move(other.descriptor_)),
      buffer_(std::move(other.buffer_)),
      stream_(std::move(other.stream_)) {}

output_file::~output_file() {
  if (!beside_.empty())
    ::unlink(beside_.c_str());
}

expected<output_file>
output_file::open(const fs::path& named,
                  const std::function<void(const fs::path&)>& waits) {
  const auto leads = follow(named);
  if (!leads)
    return tl::unexpected(leads.error());
  if (leads->descriptor >= 0) {
    std::cout.flush(); // Text that was said before stays before.
    unique_fd own(::fcntl(leads->descriptor, F_DUPFD_CLOEXEC, 3));
    return own ? output_file(named, {}, {}, std::move(own))
               : expected<output_file>(cannot(named, errno));
  }
  const auto& path = leads->path;
  const auto is = look_at(path);
  if (!is)
    return tl::unexpected(is.error());
  if (is->folder || !path.has_filename())
    return fail(
        error_kind::invalid_input,
        fmt::format("cannot write {}: it is a folder; name a file", named.string()));
  std::error_code failed;
  if (!is->there && !fs::is_directory(folder_of(path), failed))
    return fail(error_kind::invalid_input,
                fmt::format("cannot write {}: there is no folder {}", named.string(),
                            folder_of(path).string()));
  // Who may not write a file may not replace it either.
  if (is->there && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    return cannot(named, errno);
  if (is->regular && is_of_a_store(path))
    return fail(error_kind::invalid_input,
                fmt::format("cannot write {}: it is of a run's store, or of another "
                            "database; name another file",
                            named.string()));
  if (!is->there || is->replaceable) {
    fs::path beside;
    auto descriptor = make_beside(folder_of(path), beside);
    const int cause = errno;
    if (descriptor) {
      output_file made(named, path, std::move(beside), std::move(descriptor));
      if (is->there && ::fchmod(made.descriptor_.get(), is->mode) != 0)
        return cannot(named, errno);
      return made;
    }
    if (!is->there || (cause != EACCES && cause != EPERM && cause != EROFS))
      return cannot(named, cause);
  }
  auto descriptor =
      is->fifo ? open_fifo(path, waits)
               : unique_fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY
                                                    | (is->regular ? O_TRUNC : 0)));
  if (!descriptor)
    return cannot(named, errno);
  return output_file(named, {}, {}, std::move(descriptor));
}

expected<void> output_file::finish() {
  stream_->flush();
  int cause = buffer_->cause();
  if (cause == 0 && !*stream_)
    cause = ENOMEM;
  if (cause == 0 && !target_.empty() && ::fsync(descriptor_.get()) != 0
      && errno != EINVAL)
    cause = errno;
  const held_signals until_renamed;
  if (cause == 0 && !target_.empty() && beside_.empty()) {
    const auto nameless = fmt::format("/proc/self/fd/{}", descriptor_.get());
    if (with_free_name(folder_of(target_), beside_,
                       [&](const char* free) {
                         return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, free,
                                         AT_SYMLINK_FOLLOW);
                       })
        < 0) {
      cause = errno;
      beside_.clear();
    }
  }
  if (const int failed = descriptor_.close(); cause == 0)
    cause = failed;
  if (cause == 0 && !beside_.empty()) {
    if (::rename(beside_.c_str(), target_.c_str()) == 0)
      beside_.clear();
    else
      cause = errno;
  }
  if (cause != 0)
    return cannot(named_, cause);
  return {};
}

expected<void> write_output(const fs::path& named, std::string_view content) {
  return output_file::open(named, say_waiting).and_then([&](output_file file) {
    file.stream().write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.finish();
  });
}

void say_waiting(const fs::path& fifo) {
  std::cerr << "waiting until somebody reads " << fifo.string() << std::endl;
}

bool is_standard_output(const fs::path& named) {
  const auto leads = follow(named);
  return leads && leads->descriptor == STDOUT_FILENO;
}

} // namespace clade
