// Events go to one table; the checksum of each is XXH3 of its payload, seeded with that of
// (sequence, time, kind), seeded with the predecessor's, as in a run's store.
#include "engine/store/queue_store.hpp"

#include "engine/store/connection.hpp"
#include "engine/store/run_lock.hpp"
#include "engine/store/store_impl.hpp"
#include "genome/wall_clock.hpp"

#include <chrono>

namespace clade {

namespace {

/// What SQLite keeps in the file's header as its application: "Clqu".
constexpr int queue_application_id = 0x436c7175;

constexpr const char* queue_schema =
    "create table events ("
    "  sequence integer primary key, " // From 1, without gaps.
    "  unix_ms  integer not null,"
    "  kind     integer not null, " // Places of queue_event's alternatives, from 1.
    "  payload  blob not null, "    // msgpack; grammar in engine/queue/queue_event.cpp.
    "  checksum integer not null"
    ")";

void make_queue_tables(SQLite::Database& db) {
  SQLite::Transaction all(db);
  db.exec("pragma application_id = " + std::to_string(queue_application_id)
          + "; pragma user_version = " + std::to_string(queue_store::schema_version));
  db.exec(queue_schema);
  all.commit();
}

store_advice advice_on(const std::filesystem::path& file) {
  const auto folder = file.parent_path().string();
  return {.go_on = "clade serve " + folder,
          .damaged = "put a copy of the file in its place"};
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

} // namespace

struct queue_store::impl {
  impl(connection c, run_lock l)
      : lock(std::move(l)),
        connected(std::move(c)),
        insert(connected.db, "insert into events values (?, ?, ?, ?, ?)") {}

  run_lock lock;
  connection connected;
  SQLite::Statement insert;
  std::uint64_t sequence = 0, checksum = 0;

  void append(const queue_event& e, std::int64_t unix_ms, std::uint64_t at,
              std::uint64_t& chained) {
    const auto payload = encode(e);
    const auto kind = static_cast<std::int64_t>(kind_of(e));
    chained = chained_checksum(chained, at, unix_ms, kind, payload);
    insert.tryReset();
    insert.bind(1, as_signed(at));
    insert.bind(2, unix_ms);
    insert.bind(3, kind);
    bind_blob(insert, 4, payload);
    insert.bind(5, as_signed(chained));
    insert.exec();
  }

  /// Reads the event under the statement, checks it and folds it in.
  expected<void> fold(const SQLite::Statement& row, queue_state& state) {
    const auto at = natural(row.getColumn(0));
    const auto unix_ms = row.getColumn(1).getInt64();
    const auto payload = bytes_of(row.getColumn(3));
    if (at != sequence + 1)
      return fail(error_kind::corrupt, "is missing");
    checksum =
        chained_checksum(checksum, at, unix_ms, row.getColumn(2).getInt64(), payload);
    if (checksum != natural(row.getColumn(4)))
      return fail(error_kind::corrupt, "does not match its checksum");
    const auto e = decode_queue_event(payload);
    if (!e)
      return tl::unexpected(e.error());
    return apply(state, *e, unix_ms).map([&] { sequence = at; });
  }
};

queue_store::queue_store(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
queue_store::queue_store(queue_store&&) noexcept = default;
queue_store& queue_store::operator=(queue_store&&) noexcept = default;
queue_store::~queue_store() = default;

expected<queue_store> queue_store::open(const std::filesystem::path& file) {
  auto lock = run_lock::take(file);
  if (!lock && lock.error().kind == error_kind::conflict) {
    const auto who = writer_of(file);
    return fail(error_kind::conflict,
                file.parent_path().string() + ": is served already"
                    + (who ? ", by process " + std::to_string(*who) : std::string()));
  }
  if (!lock)
    return tl::unexpected(lock.error());
  std::error_code unknown;
  try {
    auto c = std::filesystem::exists(file, unknown)
                 ? connection::open(file)
                 : connection::make(file, make_queue_tables, advice_on(file));
    c.advice = advice_on(file);
    if (auto ok = check_queue(c); !ok)
      return tl::unexpected(ok.error());
    return queue_store(std::make_unique<impl>(std::move(c), std::move(*lock)));
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e, 0, advice_on(file));
  }
}

expected<std::int64_t> queue_store::append(std::span<const queue_event> events) {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<std::int64_t> {
    // What is not committed is taken back as the transaction goes out of scope.
    SQLite::Transaction all(i.connected.db, SQLite::TransactionBehavior::IMMEDIATE);
    const auto now = unix_ms();
    auto sequence = i.sequence, checksum = i.checksum;
    for (const auto& e : events)
      i.append(e, now, ++sequence, checksum);
    i.insert.tryReset();
    all.commit();
    i.sequence = sequence;
    i.checksum = checksum;
    return now;
  });
}

expected<queue_state> queue_store::load(std::chrono::seconds half_life) {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<queue_state> {
    queue_state state{.half_life = half_life};
    i.sequence = i.checksum = 0;
    SQLite::Statement all(i.connected.db, "select sequence, unix_ms, kind, payload, "
                                          "checksum from events order by sequence");
    while (all.executeStep())
      if (auto folded = i.fold(all, state); !folded)
        return fail(folded.error().kind,
                    i.connected.file.string() + ": event "
                        + std::to_string(i.sequence + 1) + ": " + folded.error().message
                        + ": the file is damaged; " + i.connected.advice.damaged);
    return state;
  });
}

std::uint64_t queue_store::size() const {
  return impl_->sequence;
}

} // namespace clade
