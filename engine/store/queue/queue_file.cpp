#include "engine/store/queue/queue_file.hpp"

#include "engine/store/queue/queue_store.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "engine/store/sqlite/store_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

/// The number that SQLite keeps in the file's header as its application: "Clqu".
constexpr int queue_application_id = 0x436c7175;

constexpr const char* events_schema =
    "create table events ("
    "  sequence integer primary key, " // From 1, without gaps.
    "  unix_ms  integer not null,"
    "  kind     integer not null, " // Places of queue_event's alternatives, from 1.
    "  payload  blob not null, "    // msgpack; grammar in engine/queue/queue_event.cpp.
    "  checksum integer not null"
    ")";

constexpr const char* lease_schema =
    "create table lease (" // One row: who serves (queue_lease.hpp).
    // The number of the last who took it; 0: nobody did yet.
    "  number   integer not null, "
    "  holder   text not null, " // "process 12"; empty: nobody holds it.
    "  host     text not null, " // The name of its machine, for people.
    "  machine  text not null, " // The machine since it was started.
    "  renewals integer not null"
    ");"
    "insert into lease values (0, '', '', '', 0)";

std::string set_version() {
  return fmt::format("pragma user_version = {}", queue_store::schema_version);
}

void make_queue_tables(SQLite::Database& db) {
  SQLite::Transaction all(db);
  db.exec(fmt::format("pragma application_id = {}", queue_application_id));
  db.exec(set_version());
  db.exec(events_schema);
  db.exec(lease_schema);
  all.commit();
}

expected<void> check_queue(const connection& c) {
  const auto place = c.file.string();
  SQLite::Statement application(c.db, "pragma application_id");
  application.executeStep();
  if (application.getColumn(0).getInt() != queue_application_id)
    return fail(error_kind::corrupt,
                place + ": not a queue (an SQLite file of something else)");
  if (c.version() > queue_store::schema_version)
    return fail(error_kind::conflict,
                place + ": made by a newer clade; use that version");
  return {};
}

/// No server of version 1 is at it: that would have all locks.
void upgrade(connection& c) {
  if (c.version() == queue_store::schema_version)
    return;
  SQLite::Transaction all(c.db, SQLite::TransactionBehavior::IMMEDIATE);
  c.db.exec(lease_schema);
  c.db.exec(set_version());
  all.commit();
}

/// A file that has a journal keeps it: somebody has said why.
expected<void> choose_journal(const connection& c, bool shared) {
  if (!shared || is_journaled(c))
    return {};
  try {
    SQLite::Statement change(c.db, "pragma journal_mode = delete");
    change.executeStep();
    return {};
  } catch (const SQLite::Exception& e) {
    if (e.getErrorCode() != SQLITE_BUSY && e.getErrorCode() != SQLITE_LOCKED)
      throw;
  }
  return fail(error_kind::conflict,
              c.file.string()
                  + ": is open in a server that takes its file system for one of this "
                    "machine alone; end that, and give --shared to all");
}

} // namespace

store_advice queue_advice(const std::filesystem::path& file) {
  const auto folder = file.parent_path().string();
  return {.go_on = "clade serve " + folder,
          .damaged = "put a copy of the file in its place"};
}

expected<connection> open_queue_file(const queue_file_params& params, byte_locks& locks) {
  if (auto alone = locks.lock(folder_lock, folder_lock_patience); !alone) {
    if (const auto who = writer_of(params.file))
      alone.error().message = fmt::format("{}: is served already, by process {}",
                                          params.file.parent_path().string(), *who);
    return tl::unexpected(alone.error());
  }
  const auto advice = queue_advice(params.file);
  std::error_code unknown;
  const auto opened = [&]() -> expected<connection> {
    if (auto ok = check_one_name(params.file).and_then([&] {
          return keep_from_others(params.file);
        });
        !ok)
      return tl::unexpected(ok.error());
    auto c = std::filesystem::exists(params.file, unknown)
                 ? connection::open(params.file)
                 : connection::make(params.file, make_queue_tables, advice);
    c.advice = advice;
    if (auto ok = check_queue(c); !ok)
      return tl::unexpected(ok.error());
    upgrade(c);
    if (auto ok = choose_journal(c, params.shared); !ok)
      return tl::unexpected(ok.error());
    return c;
  };
  try {
    auto c = opened();
    locks.unlock(folder_lock);
    return c;
  } catch (const SQLite::Exception&) {
    locks.unlock(folder_lock);
    throw;
  }
}

bool is_journaled(const connection& c) {
  SQLite::Statement mode(c.db, "pragma journal_mode");
  mode.executeStep();
  return mode.getColumn(0).getString() == "delete";
}

bool is_on_network(const std::filesystem::path& folder) {
  // man 2 statfs, and <linux/magic.h>.
  constexpr std::array<unsigned long, 14> kinds{
      0x6969,     // NFS
      0x517b,     // SMB
      0xff534d42, // CIFS
      0xfe534d42, // SMB 2
      0x01021997, // 9p
      0x65735546, // FUSE, also GlusterFS, BeeGFS' client of users, virtiofs
      0x0bd00bd0, // Lustre
      0x47504653, // GPFS
      0x00c36400, // Ceph
      0x5346414f, // AFS
      0x73757245, // Coda
      0x7461636f, // OCFS2
      0x01161970, // GFS2
      0x19830326, // BeeGFS
  };
  struct statfs seen {};
  return ::statfs(folder.c_str(), &seen) == 0
         && std::ranges::find(kinds,
                              static_cast<unsigned long>(seen.f_type) & 0xffffffffUL)
                != kinds.end();
}

} // namespace clade
