#include "engine/store/run/store_impl.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

namespace clade {

void bind_picture(SQLite::Statement& put, const kept_picture& p) {
  put.bind(1, as_signed(hash64(p.data)));
  bind_blob(put, 2, p.data);
  put.bind(3, as_signed(p.sequence));
}

void store::impl::writer::write(const kept_picture& p) {
  put_picture.tryReset();
  bind_picture(put_picture, p);
  put_picture.exec();
}

void store::keep_picture(kept_picture p) {
  impl_->picture = std::move(p);
}

namespace {

// How long whoever reads the store may take until its log is emptied.
constexpr int readers_end_ms = 2000;

/// Brings the write-ahead log into the file and leaves it empty. Whoever had the store
/// open when it is closed would otherwise leave it as large as it was. If one reads for
/// longer, the log stays.
void empty_log(const connection& c) {
  SQLite::Statement patience(c.db,
                             fmt::format("pragma busy_timeout = {}", readers_end_ms));
  patience.executeStep();
  SQLite::Statement(c.db, "pragma wal_checkpoint(truncate)").executeStep();
  SQLite::Statement as_before(c.db, "pragma busy_timeout = 10000");
  as_before.executeStep();
}

} // namespace

expected<void> store::write_picture() {
  if (impl_->picture)
    if (auto written = transact([&](impl::writer& w) { w.write(*impl_->picture); });
        !written)
      return written;
  impl_->picture.reset();
  return guarded(impl_->connected, [&]() -> expected<void> {
    empty_log(impl_->connected);
    return {};
  });
}

expected<std::optional<kept_picture>> store::find_picture() const {
  using found = std::optional<kept_picture>;
  if (impl_->version < first_with_picture)
    return found();
  return guarded(impl_->connected, [&]() -> expected<found> {
    SQLite::Statement row(impl_->connected.db,
                          "select p.sequence, p.checksum, p.bytes from picture p "
                          "join records r on r.sequence = p.sequence "
                          "where r.checksum = p.record_checksum");
    if (!row.executeStep())
      return found();
    const auto data = bytes_of(row.getColumn(2));
    if (hash64(data) != natural(row.getColumn(1)))
      return found();
    return kept_picture{.sequence = natural(row.getColumn(0)),
                        .data = bytes(data.begin(), data.end())};
  });
}

} // namespace clade
