// The lease is one row: (number, holder, host, machine, renewals). It is taken in one
// transaction that raises the number, if it is still as it was seen. Who has number n has
// the lock of that byte too (byte_locks.hpp), and takes it before the transaction, so that
// nobody of the same machine sees the number without its lock.
#include "engine/store/queue/queue_lease.hpp"

#include "engine/store/queue/queue_store.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace clade {

namespace {

struct lease_row {
  std::uint64_t number = 0, renewals = 0;
  std::string holder, host, machine;
};

lease_row read_row(const SQLite::Database& db) {
  SQLite::Statement query(db,
                          "select number, renewals, holder, host, machine from lease");
  if (!query.executeStep())
    throw SQLite::Exception("the table of the lease is empty", 11 /* corrupt */);
  return {.number = natural(query.getColumn(0)),
          .renewals = natural(query.getColumn(1)),
          .holder = query.getColumn(2).getString(),
          .host = query.getColumn(3).getString(),
          .machine = query.getColumn(4).getString()};
}

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

} // namespace

std::string this_machine() {
  constexpr std::uint64_t most = 100;
  const auto id =
      read_whole_file("/proc/sys/kernel/random/boot_id", {.most_bytes = most});
  return id ? id->substr(0, id->find('\n')) : own_host();
}

struct queue_lease::impl {
  impl(queue_lease_params p, byte_locks l, connection c)
      : params(std::move(p)),
        locks(std::move(l)),
        connected(std::move(c)) {
    params.at.shared = is_journaled(connected);
  }

  queue_lease_params params;
  byte_locks locks;
  connection connected;
  std::uint64_t number = 0;
  std::optional<lease_row> seen;
  clock::time_point seen_at; ///< When the row was first seen as it is.
  bool was_renewed = false;  ///< Since it was first looked at.
  std::string holder;

  [[nodiscard]] bool is_ours(const lease_row& row) const {
    return row.machine == params.machine;
  }

  void look(const lease_row& row, clock::time_point now) {
    if (!seen || seen->number != row.number || seen->renewals != row.renewals) {
      was_renewed = seen.has_value();
      seen = row;
      seen_at = now;
      holder = row.holder + (is_ours(row) ? "" : " on " + row.host);
    }
  }

  [[nodiscard]] bool is_gone(const lease_row& row, clock::time_point now) const {
    if (row.holder.empty() || now - seen_at >= params.patience)
      return true;
    // A file system of one machine was left by all who had it before that was started.
    return is_ours(row) ? !locks.is_others(row.number) : !params.at.shared;
  }

  answer take(const lease_row& row) {
    const auto next = row.number + 1;
    if (!locks.try_lock(next))
      return answer::unknown;
    SQLite::Transaction all(connected.db, SQLite::TransactionBehavior::IMMEDIATE);
    const auto now = read_row(connected.db);
    if (now.number != row.number || now.renewals != row.renewals) {
      locks.unlock(next);
      return answer::unknown;
    }
    SQLite::Statement change(connected.db, "update lease set number = ?, holder = ?, "
                                           "host = ?, machine = ?, renewals = 0");
    change.bind(1, as_signed(next));
    change.bind(2, fmt::format("process {}", ::getpid()));
    change.bind(3, own_host());
    change.bind(4, params.machine);
    change.exec();
    all.commit();
    number = next;
    return answer::taken;
  }
};

queue_lease::queue_lease(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
queue_lease::queue_lease(queue_lease&&) noexcept = default;
queue_lease& queue_lease::operator=(queue_lease&&) noexcept = default;

queue_lease::~queue_lease() {
  if (!impl_ || impl_->number == 0)
    return;
  // If the number cannot be written down, the next one sees it by the lock, or waits.
  static_cast<void>(guarded(impl_->connected, [&]() -> expected<void> {
    SQLite::Statement give_back(impl_->connected.db,
                                "update lease set holder = '' where number = ?");
    give_back.bind(1, as_signed(impl_->number));
    give_back.exec();
    return {};
  }));
}

expected<queue_lease> queue_lease::open(const queue_lease_params& params) {
  auto locks = byte_locks::open(params.at.file);
  if (!locks)
    return tl::unexpected(locks.error());
  try {
    return open_queue_file(params.at, *locks).map([&](connection c) {
      return queue_lease(std::make_unique<impl>(params, std::move(*locks), std::move(c)));
    });
  } catch (const SQLite::Exception& e) {
    return store_failure(params.at.file, e, 0, queue_advice(params.at.file));
  }
}

expected<queue_lease::answer> queue_lease::try_take(clock::time_point now) {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<answer> {
    const auto row = read_row(i.connected.db);
    i.look(row, now);
    if (i.is_gone(row, now))
      return i.take(row);
    return i.is_ours(row) || i.was_renewed ? answer::held : answer::unknown;
  });
}

const std::string& queue_lease::holder() const {
  return impl_->holder;
}

bool queue_lease::found_machine_down() const {
  const auto& i = *impl_;
  return i.number != 0 && i.seen && !i.seen->holder.empty() && !i.is_ours(*i.seen)
         && !i.params.at.shared;
}

std::uint64_t queue_lease::number() const {
  return impl_->number;
}

const queue_lease_params& queue_lease::params() const {
  return impl_->params;
}

expected<bool> queue_lease::renew() {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<bool> {
    SQLite::Statement again(i.connected.db,
                            "update lease set renewals = renewals + 1 where number = ?");
    again.bind(1, as_signed(i.number));
    return again.exec() == 1;
  });
}

expected<void> check_lease(const connection& c, std::uint64_t number) {
  const auto row = read_row(c.db);
  if (row.number == number)
    return {};
  // Not `conflict`: nobody at the keyboard is wrong.
  return fail(error_kind::io,
              fmt::format("{}: {}{} has taken this queue over, as this one did not renew "
                          "its lease; what ran here is ended",
                          c.file.parent_path().string(),
                          row.holder.empty() ? "another server" : row.holder,
                          row.host.empty() ? "" : " on " + row.host));
}

} // namespace clade
