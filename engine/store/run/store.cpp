// Records go to `records` with a checksum that chains them: XXH3 of the payload, seeded
// with that of (sequence, time, kind), seeded with the predecessor's. So a changed byte,
// a record taken out, and two in the wrong order are all found where they are; that none
// is missing at the end, `progress.records` says.
//
// append is one transaction. When it fails, SQLite takes back what was written, and what
// is kept in memory between calls (the last checksum, the counts) is read anew before the
// next.
#include "engine/store/run/store.hpp"

#include "engine/store/run/store_impl.hpp"
#include "engine/store/run/upgrade.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "genome/base/wall_clock.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace clade {

namespace {

/// Returns the number of a record's kind, as the grammar of record.cpp numbers it and
/// `records.kind` has it.
std::int64_t kind_of(std::span<const char> payload) {
  decoder d(payload);
  d.array();
  return static_cast<std::int64_t>(d.natural());
}

std::string record_name(std::uint64_t sequence) {
  return fmt::format("record {}", sequence);
}

/// How many records there are, from a row of progress that says what such a row may say: one
/// that is damaged is no row.
constexpr const char* count_sql =
    "select records from progress where run = 1 and typeof(records) = 'integer' and "
    "state in ('created', 'started', 'paused', 'finished') and typeof(updated_ms) = "
    "'integer' and records >= born + evaluated and (records > 0 or state = 'created')";

/// The records after `after` in order, as stored, checksums verified. `visit(sequence,
/// unix_ms, payload)`.
template<class Visit>
expected<std::uint64_t> visit_payloads(const connection& c, std::uint64_t after,
                                       Visit visit) {
  SQLite::Statement all(c.db, "select sequence, unix_ms, kind, payload, checksum, "
                              "(select records from progress) from records "
                              "where sequence >= ? order by sequence");
  all.bind(1, as_signed(after));
  SQLite::Statement expected_count(c.db, count_sql);
  std::uint64_t whole = 0, checksum = 0, count = 0;
  const auto damaged = [&](const std::string& how) {
    return fail(error_kind::corrupt,
                fmt::format("{}: {} of {} {}: the file is damaged; {} says what is whole",
                            c.file.string(), record_name(whole + 1),
                            std::max(count, whole + 1), how, check_command(c.file)));
  };
  try {
    // Without it, records that are missing at the end would not be missed.
    if (!expected_count.executeStep())
      return fail(error_kind::corrupt,
                  fmt::format("{}: the table progress says nothing: the file is damaged; "
                              "{} says what is whole",
                              c.file.string(), check_command(c.file)));
    count = natural(expected_count.getColumn(0));
    expected_count.tryReset();
    while (all.executeStep()) {
      const auto sequence = natural(all.getColumn(0));
      const auto unix_ms = all.getColumn(1).getInt64();
      const auto payload = bytes_of(all.getColumn(3));
      count = natural(all.getColumn(5));
      if (sequence == after) {
        whole = sequence;
        checksum = natural(all.getColumn(4));
        continue;
      }
      if (sequence != whole + 1)
        return damaged("is missing");
      checksum = chained_checksum(checksum, sequence, unix_ms,
                                  all.getColumn(2).getInt64(), payload);
      if (checksum != natural(all.getColumn(4)))
        return damaged("does not match its checksum");
      whole = sequence;
      if (auto ok = visit(sequence, unix_ms, payload); !ok)
        return tl::unexpected(ok.error());
    }
  } catch (const SQLite::Exception& e) {
    auto failure = c.failure(e).value();
    if (failure.kind == error_kind::corrupt)
      return damaged(fmt::format("cannot be read ({})", e.what()));
    return tl::unexpected(std::move(failure));
  }
  if (whole < count)
    return damaged("is missing");
  return whole;
}

} // namespace

std::uint64_t chained_checksum(std::uint64_t predecessor, std::uint64_t sequence,
                               std::int64_t unix_ms, std::int64_t kind,
                               std::span<const char> payload) {
  const std::array<std::uint64_t, 3> columns{
      sequence, static_cast<std::uint64_t>(unix_ms), static_cast<std::uint64_t>(kind)};
  std::array<char, sizeof columns> place{};
  for (std::size_t i = 0; i < place.size(); ++i)
    place[i] = static_cast<char>(columns[i / 8] >> (8 * (i % 8)));
  return hash64(payload, hash64(place, predecessor));
}

store::impl::writer::writer(connection& c)
    : queried(c),
      begin(c.db, "begin immediate"),
      commit(c.db, "commit"),
      rollback(c.db, "rollback"),
      insert_record(c.db, "insert into records values (?, ?, ?, ?, ?)"),
      last_record(
          c.db, "select sequence, checksum from records order by sequence desc limit 1"),
      delete_weights(c.db, "delete from weights where id = ?"),
      weights_ids(c.db, "select id from weights"),
      put_picture(c.db, put_picture_sql) {}

void store::impl::writer::load(const blob_folder& large_weights) {
  sequence = checksum = 0;
  last_record.tryReset();
  if (last_record.executeStep()) {
    sequence = natural(last_record.getColumn(0));
    checksum = natural(last_record.getColumn(1));
  }
  last_record.tryReset();
  with_weights = large_weights.ids();
  weights_ids.tryReset();
  while (weights_ids.executeStep())
    with_weights.insert(natural(weights_ids.getColumn(0)));
  weights_ids.tryReset();
  queried.load();
  loaded = true;
}

store::store(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
store::store(store&&) noexcept = default;
store& store::operator=(store&&) noexcept = default;
store::~store() = default;

expected<store> store::create(const std::filesystem::path& file, const objective& goal) {
  std::error_code failed;
  if (std::filesystem::exists(file, failed))
    return fail(error_kind::conflict, file.string() + ": there already");
  auto lock = run_lock::take(file);
  if (!lock)
    return tl::unexpected(lock.error());
  try {
    auto made = std::make_unique<impl>(connection::make(file, goal));
    made->lock = std::move(*lock);
    made->writes = std::make_unique<impl::writer>(made->connected);
    return store(std::move(made));
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e, 0, {.fresh = true});
  }
}

expected<store> store::open(const std::filesystem::path& file) {
  if (auto ok = check_header(file); !ok)
    return tl::unexpected(ok.error());
  auto lock = run_lock::take(file);
  if (!lock)
    return tl::unexpected(lock.error());
  try {
    auto opened = std::make_unique<impl>(connection::open(file));
    opened->lock = std::move(*lock);
    if (auto ok = check_current(opened->connected); !ok)
      return tl::unexpected(ok.error());
    const auto records =
        visit_payloads(opened->connected, 0, [](auto&&...) { return expected<void>(); });
    if (!records)
      return tl::unexpected(records.error());
    opened->size = *records;
    opened->writes = std::make_unique<impl::writer>(opened->connected);
    return store(std::move(opened));
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e);
  }
}

expected<store> store::open_to_read(const std::filesystem::path& file) {
  if (auto ok = check_header(file); !ok)
    return tl::unexpected(ok.error());
  try {
    auto opened = std::make_unique<impl>(connection::open_to_read(file));
    opened->version = opened->connected.version();
    SQLite::Statement count(opened->connected.db, "select records from progress");
    if (count.executeStep())
      opened->size = natural(count.getColumn(0));
    count.tryReset();
    return store(std::move(opened));
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e);
  }
}

void store::impl::write_weights(candidate_id id, const blob& weights) {
  const auto written = weights.size() > most_weights_in_table
                           ? large_weights.write(id, weights)
                           : weights.load().map([&](const shared_bytes& content) {
                               writes->queried.write_weights(id, *content);
                             });
  if (!written)
    throw error(written.error());
}

expected<store::place> store::append(std::span<const entry> entries) {
  if (entries.empty())
    return place{};
  place at{.unix_ms = unix_ms()};
  return transact([&](impl::writer& w) {
           const auto unix_ms = at.unix_ms;
           at.sequence = w.sequence + 1;
           for (const auto& e : entries) {
             const auto payload = encode(e.record);
             ++w.sequence;
             w.checksum = chained_checksum(w.checksum, w.sequence, unix_ms,
                                           kind_of(payload), payload);
             auto& insert = w.insert_record;
             insert.tryReset();
             insert.bind(1, as_signed(w.sequence));
             insert.bind(2, unix_ms);
             insert.bind(3, kind_of(payload));
             bind_blob(insert, 4, payload);
             insert.bind(5, as_signed(w.checksum));
             insert.exec();
             w.queried.write(w.sequence, unix_ms, e.record);
             if (e.weights.empty())
               continue;
             const auto* evaluated = std::get_if<candidate_evaluated>(&e.record);
             if (evaluated == nullptr && !std::holds_alternative<model_composed>(e.record)
                 && !std::holds_alternative<interim_composed>(e.record))
               throw error{error_kind::internal, "weights came without an evaluation"};
             // The weights of members of an ensemble that are no candidates have the
             // number 0.
             const auto id = evaluated != nullptr ? evaluated->evaluated.id : 0;
             impl_->write_weights(id, e.weights);
             w.with_weights.insert(id);
           }
           w.queried.write_progress(w.sequence);
           if (impl_->picture)
             w.write(*impl_->picture);
         })
      .map([&] {
        impl_->connected.advice.fresh = false;
        impl_->picture.reset();
        return at;
      });
}

expected<void> store::keep_weights(std::span<const candidate_id> ids) {
  const auto dropped = [&](candidate_id id) {
    return std::find(ids.begin(), ids.end(), id) == ids.end();
  };
  // Called after most evaluations, when there is nothing to drop.
  if (impl_->writes && impl_->writes->loaded
      && std::none_of(impl_->writes->with_weights.begin(),
                      impl_->writes->with_weights.end(), dropped))
    return {};
  return transact([&](impl::writer& w) {
           for (auto i = w.with_weights.begin(); i != w.with_weights.end();) {
             if (!dropped(*i)) {
               ++i;
               continue;
             }
             w.delete_weights.tryReset();
             w.delete_weights.bind(1, as_signed(*i));
             w.delete_weights.exec();
             i = w.with_weights.erase(i);
           }
         })
      .and_then([&] {
        return impl_->large_weights.keep(ids, std::numeric_limits<candidate_id>::max());
      });
}

expected<void> store::for_each(
    const std::function<expected<void>(std::uint64_t sequence, std::int64_t unix_ms,
                                       const record& r)>& visit,
    std::uint64_t after) const {
  const auto& c = impl_->connected;
  auto visited = guarded(c, [&] {
    return visit_payloads(c, after,
                          [&](std::uint64_t sequence, std::int64_t unix_ms,
                              std::span<const char> payload) -> expected<void> {
                            const auto r = decode_record(payload);
                            if (!r)
                              return fail(r.error().kind,
                                          fmt::format("{}: {}: {}", c.file.string(),
                                                      record_name(sequence),
                                                      r.error().message));
                            return visit(sequence, unix_ms, *r);
                          });
  });
  if (!visited)
    return tl::unexpected(visited.error());
  return {};
}

std::uint64_t store::size() const {
  return impl_->size;
}

int store::version() const {
  return impl_->version;
}

} // namespace clade
