#pragma once

#include "actors/messages/progress.hpp"
#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

namespace clade {

/// Refuses a run's folder in which a link, or what is no file, lies in the place of a
/// file that a session writes: it would be written, or waited for, in the other's place.
[[nodiscard]] expected<void> check_own_files(const std::filesystem::path& folder);

/// Returns the address at which a run that is open to other machines listens, or did when
/// it was last live: the one line of `address` in its folder. Empty: it never was.
[[nodiscard]] std::string listening_address(const std::filesystem::path& folder);
[[nodiscard]] expected<void> write_address(const std::filesystem::path& folder,
                                           const std::string& address);

/// The log of events of nodes and connections, a line each with the time, appended. A
/// file of `most_bytes` becomes FILE.1, in the place of the one before. From any thread.
class run_log {
public:
  explicit run_log(std::filesystem::path file, std::uintmax_t most_bytes = 16 << 20);
  void write(const std::string& line);

private:
  std::filesystem::path file_;
  std::uintmax_t most_bytes_;
  std::mutex mutex_;
  std::ofstream out_;
};

/// Notices that a run has had no slot, or none that could do anything, for so long that
/// something must be wrong, and that what is begun is lost again and again.
class slot_watch {
public:
  /// `devices`: the slots that a training takes, 0 where it depends on the training;
  /// `where`: " of one machine", where they must be.
  explicit slot_watch(std::filesystem::path worker_log, std::uint32_t devices = 1,
                      std::string where = {})
      : log_(std::move(worker_log)),
        devices_(devices),
        where_(std::move(where)) {}

  /// Returns a sentence that says what is missing, once in each such time; and one that says
  /// what fails, each time that twice as much has since the last evaluation that ended.
  /// `evaluated`: how many have.
  [[nodiscard]] std::optional<std::string>
  look(const slots_view& slots, std::uint64_t evaluated,
       std::chrono::steady_clock::time_point now);

private:
  [[nodiscard]] std::optional<std::string> failing(const slots_view& slots,
                                                   std::uint64_t evaluated);
  [[nodiscard]] std::string nobody_works(const slots_view& slots,
                                         std::chrono::duration<double> time) const;
  [[nodiscard]] std::string nobody_joined(std::chrono::duration<double> time) const;

  std::filesystem::path log_;
  std::uint32_t devices_;
  std::string where_;
  std::optional<std::chrono::steady_clock::time_point> none_since_;
  bool told_ = false;
  std::uint64_t evaluated_ = 0;
  std::uint64_t failed_before_ = 0, told_after_ = first_told;
  static constexpr std::uint64_t first_told = 3;
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

/// Returns the slots that a session wrote last, live or killed; `not_found`: it ended, or
/// there was none.
[[nodiscard]] expected<slots_view> read_slots(const std::filesystem::path& folder);

} // namespace clade
