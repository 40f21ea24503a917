#pragma once

#include "actors/progress.hpp"
#include "genome/error.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

namespace clade {

/// Where a run that is open to other machines listens, or did when it was last live: the
/// one line of `address` in its folder. Empty: it never was.
[[nodiscard]] std::string listening_address(const std::filesystem::path& folder);
[[nodiscard]] expected<void> write_address(const std::filesystem::path& folder,
                                           const std::string& address);

/// What happens to nodes and connections, a line each with the time, appended. From any
/// thread.
class run_log {
public:
  explicit run_log(const std::filesystem::path& file);
  void write(const std::string& line);

private:
  std::mutex mutex_;
  std::ofstream out_;
};

/// `slots.json` in a run's folder: what the slots do, for `clade workers`, written anew
/// each second and removed when the session ends. It is for people: a file that cannot be
/// written is left out.
class slots_file {
public:
  explicit slots_file(const std::filesystem::path& folder);
  ~slots_file();
  slots_file(const slots_file&) = delete;
  slots_file& operator=(const slots_file&) = delete;

  void update(const slots_view& slots);

private:
  std::filesystem::path path_;
  std::optional<std::chrono::steady_clock::time_point> written_;
};

/// What a live session wrote last, and how long ago; `not_found` if none is live.
struct slots_snapshot {
  slots_view slots;
  std::chrono::milliseconds age{0};
};
[[nodiscard]] expected<slots_snapshot> read_slots(const std::filesystem::path& folder);

} // namespace clade
