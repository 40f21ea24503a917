// To examine, what is whole is copied to a nameless temporary file. To repair, to
// "run.db.repaired", which then takes the damaged file's place:
//
//     link   run.db          run.db.damaged        fails if that is there: the next name
//     rename run.db-wal      run.db.damaged-wal    or SQLite would take it for the new
//     rename run.db.repaired run.db
//
// Killed in between, the damaged store and its log lie under the one name or the other,
// and repairing again goes on.
#include "engine/store/repair/check.hpp"

#include "engine/store/repair/survey.hpp"
#include "engine/store/sqlite/disk.hpp"
#include "engine/store/sqlite/run_lock.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

std::filesystem::path with_suffix(std::filesystem::path file, const std::string& suffix) {
  file += suffix;
  return file;
}

void remove_store(const std::filesystem::path& file) {
  // A file that stays is found, and removed, by the next repair.
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(with_suffix(file, suffix), ignored);
}

/// Gives the damaged file a second name, which nothing has yet.
expected<std::filesystem::path> link_damaged(const std::filesystem::path& file) {
  for (std::uint64_t number = 1;; ++number) {
    const auto name =
        with_suffix(file, ".damaged" + (number == 1 ? "" : fmt::format("-{}", number)));
    std::error_code failed;
    if (std::filesystem::exists(with_suffix(name, "-wal"), failed))
      continue;
    std::filesystem::create_hard_link(file, name, failed);
    if (!failed)
      return name;
    if (failed != std::errc::file_exists)
      return disk_error(file, "be kept as " + name.filename().string(), failed);
  }
}

/// Returns where the damaged one is now.
expected<std::filesystem::path> put_in_place(const std::filesystem::path& fresh,
                                             const std::filesystem::path& file) {
  std::error_code failed;
  const auto mode = std::filesystem::status(file, failed).permissions();
  if (!failed)
    std::filesystem::permissions(fresh, mode, failed);
  if (failed)
    return disk_error(fresh, "have the mode of the damaged one", failed);
  auto damaged = link_damaged(file);
  if (!damaged)
    return damaged;
  if (std::filesystem::exists(with_suffix(file, "-wal"), failed))
    std::filesystem::rename(with_suffix(file, "-wal"), with_suffix(*damaged, "-wal"),
                            failed);
  if (!failed)
    std::filesystem::remove(with_suffix(file, "-shm"), failed);
  if (!failed)
    std::filesystem::rename(fresh, file, failed);
  if (failed)
    return disk_error(file, "be replaced", failed);
  return sync_folder(file.has_parent_path() ? file.parent_path() : ".").map([&] {
    return *damaged;
  });
}

/// The log, and what a repair makes, lie beside the file and not beside links to it.
std::filesystem::path without_links(const std::filesystem::path& named) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(named, failed))
    return named;
  auto file = std::filesystem::canonical(named, failed);
  return failed ? named : file;
}

} // namespace

expected<store_condition> examine_store(const std::filesystem::path& named,
                                        const goal_reader& goal_of) {
  const auto file = without_links(named);
  return survey({.file = file, .goal_of = goal_of, .make_copy = [&] {
                   return connection::make_temporary(file, {});
                 }});
}

expected<store_repair> repair_store(const std::filesystem::path& named,
                                    const goal_reader& goal_of) {
  const auto file = without_links(named);
  if (const auto header = check_header(file);
      !header && header.error().kind != error_kind::corrupt)
    return tl::unexpected(header.error());
  const auto lock = run_lock::take(file);
  if (!lock)
    return tl::unexpected(lock.error());
  const auto fresh = with_suffix(file, ".repaired");
  remove_store(fresh);
  auto found = survey({.file = file,
                       .goal_of = goal_of,
                       .make_copy = [&] { return connection::make(fresh, {}); },
                       .keep_copy = true,
                       .locked = true});
  if (!found || found->whole() || found->records == 0)
    remove_store(fresh);
  if (!found)
    return tl::unexpected(found.error());
  if (found->whole())
    return store_repair{.found = std::move(*found), .damaged = {}};
  if (found->records == 0)
    return fail(error_kind::corrupt,
                file.string()
                    + ": no record of it is whole, so that nothing can be resumed; take "
                      "a copy of it if there is one, or start the run again: clade run "
                      "FILE");
  auto damaged = put_in_place(fresh, file);
  if (!damaged) {
    remove_store(fresh);
    return tl::unexpected(damaged.error());
  }
  return store_repair{.found = std::move(*found), .damaged = std::move(*damaged)};
}

} // namespace clade
