// The number of the schema is raised in the transaction that changes it, so that a file
// is of the one or of the other. It then goes from the log to the file's header, where
// `check_header` looks for it.
#include "engine/store/run/upgrade.hpp"

#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/run_folder.hpp"

#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>

namespace clade {

namespace {

// From the first schema to the second, and so on: what was between them then, whatever
// schema.sql says now.
constexpr std::array<const char*, 1> steps{R"(
create table picture (
  run             integer primary key check (run = 1),
  sequence        integer not null,
  record_checksum integer not null,
  checksum        integer not null,
  bytes           blob not null
);
alter table genomes add column epochs integer;
alter table genomes add column start integer;
)"};
static_assert(steps.size() + 1 == store::schema_version);

std::filesystem::path with_suffix(std::filesystem::path file, const char* suffix) {
  file += suffix;
  return file;
}

void remove_store(const std::filesystem::path& file) {
  // A file that stays is found, and removed, by the next one.
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(with_suffix(file, suffix), ignored);
}

/// Throws.
void raise_schema(connection& c, const kept_picture& picture) {
  SQLite::Transaction all(c.db, SQLite::TransactionBehavior::IMMEDIATE);
  for (auto from = static_cast<std::size_t>(c.version()); from <= steps.size(); ++from)
    c.db.exec(steps.at(from - 1));
  c.db.exec(fmt::format("pragma user_version = {}", store::schema_version));
  SQLite::Statement put(c.db, put_picture_sql);
  bind_picture(put, picture);
  put.exec();
  all.commit();
}

expected<void> upgrade(const std::filesystem::path& file,
                       const picture_maker& picture_of) {
  const auto picture = store::open_to_read(file).and_then(picture_of);
  if (!picture)
    return tl::unexpected(picture.error());
  try {
    auto opened = connection::open(file);
    raise_schema(opened, *picture);
    // If somebody reads it still, whoever closes it last brings the log into it.
    SQLite::Statement(opened.db, "pragma wal_checkpoint(truncate)").executeStep();
    return {};
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e);
  }
}

expected<void> copy_whole(const std::filesystem::path& file,
                          const std::filesystem::path& to) {
  try {
    auto from = connection::open_to_read(file);
    SQLite::Database target(to.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const int copied = SQLite::Backup(target, from.db).executeStep();
    if (copied != SQLITE_DONE)
      throw SQLite::Exception("the copy was not finished", copied);
    return {};
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e);
  }
}

} // namespace

expected<void> upgrade_copy(const std::filesystem::path& file,
                            const std::filesystem::path& copy,
                            const picture_maker& picture_of) {
  if (auto ok = check_header(file); !ok)
    return ok;
  std::error_code failed;
  if (std::filesystem::exists(copy, failed))
    return fail(error_kind::conflict, copy.string() + ": there already");
  const auto fresh = with_suffix(copy, ".new");
  remove_store(fresh);
  auto made =
      copy_whole(file, fresh).and_then([&] { return upgrade(fresh, picture_of); });
  if (made) {
    const auto mode = std::filesystem::status(file, failed).permissions();
    if (!failed)
      std::filesystem::permissions(fresh, mode, failed);
    if (!failed)
      std::filesystem::rename(fresh, copy, failed);
    if (!failed)
      return {};
    made = fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", copy.string(), failed.message()));
  }
  remove_store(fresh);
  return made;
}

expected<void> upgrade_in_place(const std::filesystem::path& file,
                                const picture_maker& picture_of) {
  if (auto ok = check_header(file); !ok)
    return ok;
  const auto lock = run_lock::take(file);
  if (!lock)
    return tl::unexpected(lock.error());
  return upgrade(file, picture_of);
}

expected<void> check_current(const connection& c) {
  const auto version = c.version();
  if (version == store::schema_version)
    return {};
  return fail(
      error_kind::conflict,
      fmt::format(
          "{}: written by an older clade (schema {}; this one writes {}); {} makes a "
          "copy that it can go on with, and with --in-place changes the run itself",
          c.file.string(), version, store::schema_version,
          command_for("upgrade", c.file)));
}

} // namespace clade
