#include "engine/training/weights/position_files.hpp"

#include "engine/training/weights/sealed.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

// Grammar (msgpack):
//
//     file    = [ "clade-position", 1, payload, checksum ]        sealed.hpp
//     payload = [ exchanges, position: binary ]                   loop_position.cpp

namespace clade {
namespace {

namespace fs = std::filesystem;

constexpr sealed_format format{.name = "clade-position",
                               .version = 1,
                               .place = "position",
                               .one = "a position of a training"};

void complain(const fs::path& file, const std::string& why) {
  std::fprintf(stderr, "clade node: %s: %s\n", file.c_str(), why.c_str());
}

expected<position_files::kept> read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const bytes content{std::istreambuf_iterator<char>(in), {}};
  const auto payload = unseal(format, content);
  if (!payload)
    return tl::unexpected(payload.error());
  decoder d(*payload);
  position_files::kept k;
  d.array(2);
  k.exchanges = d.natural();
  const auto position = d.binary();
  if (auto whole = d.finish(); !whole)
    return tl::unexpected(whole.error());
  auto decoded = decode_loop_position(position);
  if (!decoded)
    return tl::unexpected(decoded.error());
  k.position = std::move(*decoded);
  return k;
}

/// Returns 0 once the disk has it, or the error number.
int write_synced(const fs::path& file, const std::function<int(int)>& write_to) {
  const unique_fd out(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!out)
    return errno;
  if (const int failed = write_to(out.get()); failed != 0)
    return failed;
  return ::fsync(out.get()) == 0 ? 0 : errno;
}

/// Returns 0 once it has the other name, or the error number.
int rename_file(const fs::path& from, const fs::path& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

} // namespace

position_files::position_files(fs::path folder, std::uint64_t name)
    : folder_(std::move(folder)),
      name_(name) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
}

position_files::~position_files() = default; // The future waits.

fs::path position_files::file(const char* which) const {
  return folder_ / (std::to_string(name_) + which);
}

// Another process of the machine may write too, when it has taken the training over.
void position_files::write(const std::function<int(int)>& write_to) const {
  const auto fresh = file((fmt::format(".new{}", ::getpid())).c_str());
  int failed = write_synced(fresh, write_to);
  if (failed == 0) {
    const int moved = rename_file(file(".last"), file(".before"));
    failed = moved == ENOENT ? 0 : moved; // There was none before.
  }
  if (failed == 0)
    failed = rename_file(fresh, file(".last"));
  if (failed != 0)
    complain(fresh, std::string("not kept: ") + std::strerror(failed));
  ::unlink(fresh.c_str());
}

void position_files::keep(const kept& k) {
  encoder payload;
  payload.array(2).natural(k.exchanges).binary(encode(k.position));
  keep([content = payload.take()](int descriptor) {
    return write_all(descriptor, seal(format, content));
  });
}

void position_files::keep(std::function<int(int descriptor)> write_to) {
  if (writing_.valid())
    writing_.wait();
  writing_ =
      std::async(std::launch::async, [this, w = std::move(write_to)] { write(w); });
}

bool position_files::is_keeper() {
  if (lock_)
    return true;
  unique_fd lock(::open(file(".lock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  // If no file can be locked, none can be kept: that is said when it is tried.
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return false;
  lock_ = std::move(lock);
  return true;
}

std::vector<fs::path> position_files::files() const {
  std::vector<fs::path> all;
  std::error_code failed;
  for (const auto* which : {".last", ".before"})
    if (fs::exists(file(which), failed))
      all.push_back(file(which));
  return all;
}

std::optional<position_files::kept> position_files::newest() const {
  for (const auto& path : files()) {
    auto k = read(path);
    if (k)
      return std::move(*k);
    pass_over(path, k.error());
  }
  return std::nullopt;
}

void position_files::pass_over(const fs::path& file, const error& why) {
  complain(file, why.message + "; it is passed over");
}

void position_files::remove() {
  if (writing_.valid())
    writing_.wait();
  for (const auto* which : {".last", ".before", ".lock"}) {
    std::error_code failed;
    fs::remove(file(which), failed);
  }
}

} // namespace clade
