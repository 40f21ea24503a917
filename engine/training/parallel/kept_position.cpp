#include "engine/training/parallel/kept_position.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace clade {
namespace {

[[noreturn]] void throw_error(const char* what, int reason) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host = {"this machine"};
  throw std::system_error(reason, std::generic_category(),
                          "the position of the training cannot be " + std::string(what)
                              + " on " + host.data() + ", in the file system of "
                              + std::filesystem::temp_directory_path().string());
}

} // namespace

kept_position::kept_position(header h, bytes rest, std::uint64_t elements)
    : header_(h),
      rest_(std::move(rest)),
      elements_(elements) {
  auto name = (std::filesystem::temp_directory_path() / "clade-XXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    throw_error("written", errno);
  ::unlink(name.c_str());
}

kept_position::~kept_position() {
  ::close(file_);
}

void kept_position::write(row r, std::uint64_t at, std::span<const float> values) {
  auto left = std::as_bytes(values);
  auto place = static_cast<off_t>((r * elements_ + at) * sizeof(float));
  while (!left.empty()) {
    const auto done = ::pwrite(file_, left.data(), left.size(), place);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      throw_error("written", done < 0 ? errno : ENOSPC);
    left = left.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}

void kept_position::read(row r, std::uint64_t at, std::span<float> values) const {
  auto left = std::as_writable_bytes(values);
  auto place = static_cast<off_t>((r * elements_ + at) * sizeof(float));
  while (!left.empty()) {
    const auto done = ::pread(file_, left.data(), left.size(), place);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      throw_error("read", done < 0 ? errno : EIO);
    left = left.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}

} // namespace clade
