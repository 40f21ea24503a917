// Events go to one table; the checksum of each is XXH3 of its payload, seeded with that of
// (sequence, time, kind), seeded with the predecessor's, as in a run's store.
#include "engine/store/queue/queue_store.hpp"

#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/connection.hpp"
#include "engine/store/sqlite/store_file.hpp"
#include "genome/base/wall_clock.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace clade {

namespace {

constexpr int renewals_in_patience = 3;

/// Renews a lease in a thread of its own until that or its file is lost, or the keeper
/// destroyed.
class lease_keeper {
public:
  explicit lease_keeper(queue_lease lease)
      : lease_(std::move(lease)),
        opened_(identity_of(lease_.params().at.file)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
  }

  void when_lost(std::function<void()> told) {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    if (lost_ && told_)
      told_();
  }

  [[nodiscard]] bool is_lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  [[nodiscard]] std::uint64_t number() const { return lease_.number(); }
  [[nodiscard]] bool found_machine_down() const { return lease_.found_machine_down(); }

  /// An error: the file is no longer where it was opened. Data that is written to it is
  /// gone once it is closed.
  [[nodiscard]] expected<void> check_file() const {
    const auto& file = lease_.params().at.file;
    if (!is_replaced(file, opened_))
      return {};
    return fail(error_kind::io,
                fmt::format("{} was removed or replaced while it was served: what is "
                            "submitted could not be kept, and what ran here is ended; "
                            "put a copy in its place, then: clade serve {}",
                            file.string(), file.parent_path().string()));
  }

private:
  void keep(const std::stop_token& stop) {
    const auto pause = lease_.params().patience / renewals_in_patience;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, pause, [] { return false; })
           && !stop.stop_requested()) {
      lock.unlock();
      const bool in_place = check_file().has_value();
      const auto ours = lease_.renew();
      lock.lock();
      // A disk that does not answer is told by the next append; it may answer again.
      if (in_place && ours.value_or(true))
        continue;
      lost_ = true;
      if (told_)
        told_();
      return;
    }
  }

  queue_lease lease_;
  const std::optional<file_identity> opened_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool lost_ = false;
  std::function<void()> told_;
  std::jthread thread_; ///< The last: it ends before the rest.
};

} // namespace

struct queue_store::impl {
  impl(queue_lease l, connection c)
      : keeper(std::move(l)),
        connected(std::move(c)),
        insert(connected.db, "insert into events values (?, ?, ?, ?, ?)") {}

  lease_keeper keeper;
  connection connected;
  SQLite::Statement insert;
  std::uint64_t sequence = 0, checksum = 0;

  /// Whether what is written now is kept, by us alone.
  [[nodiscard]] expected<void> check_ours() const {
    return keeper.check_file().and_then([&] {
      return guarded(connected, [&] { return check_lease(connected, keeper.number()); });
    });
  }

  void append(const stored_event& e, std::int64_t kind) {
    insert.tryReset();
    insert.bind(1, as_signed(e.sequence));
    insert.bind(2, e.unix_ms);
    insert.bind(3, kind);
    bind_blob(insert, 4, e.payload);
    insert.bind(5, as_signed(e.checksum));
    insert.exec();
  }

  /// Checks that an event is what follows those before, and returns it.
  expected<queue_event> follow(const stored_event& e) {
    if (e.sequence != sequence + 1)
      return fail(error_kind::corrupt, "is missing");
    auto event = decode_queue_event(e.payload);
    if (!event)
      return event;
    const auto kind = static_cast<std::int64_t>(kind_of(*event));
    if (e.checksum != chained_checksum(checksum, e.sequence, e.unix_ms, kind, e.payload))
      return fail(error_kind::corrupt, "does not match its checksum");
    return event;
  }

  /// Checks an event and folds it in.
  expected<queue_event> fold(const stored_event& e, queue_state& state) {
    auto event = follow(e);
    if (!event)
      return event;
    if (auto folded = apply(state, *event, e.unix_ms); !folded)
      return tl::unexpected(folded.error());
    sequence = e.sequence;
    checksum = e.checksum;
    return event;
  }
};

namespace {

constexpr const char* all_events =
    "select sequence, unix_ms, payload, checksum, kind from events";

/// The event under a statement of `all_events`.
stored_event event_of(const SQLite::Statement& row) {
  const auto payload = bytes_of(row.getColumn(2));
  return {.sequence = natural(row.getColumn(0)),
          .unix_ms = row.getColumn(1).getInt64(),
          .payload = bytes(payload.begin(), payload.end()),
          .checksum = natural(row.getColumn(3))};
}

} // namespace

queue_store::queue_store(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
queue_store::queue_store(queue_store&&) noexcept = default;
queue_store& queue_store::operator=(queue_store&&) noexcept = default;
queue_store::~queue_store() = default;

expected<queue_store> queue_store::open(const std::filesystem::path& file) {
  auto lease = queue_lease::open(
      {.at = {.file = file, .shared = is_on_network(file.parent_path())}});
  if (!lease)
    return tl::unexpected(lease.error());
  while (true) {
    const auto answer = lease->try_take();
    if (!answer)
      return tl::unexpected(answer.error());
    if (*answer == queue_lease::answer::taken)
      return open(std::move(*lease));
    if (*answer == queue_lease::answer::held)
      return fail(error_kind::conflict,
                  fmt::format("{}: is served already, by {}", file.parent_path().string(),
                              lease->holder()));
    std::this_thread::sleep_for(lease->params().patience / 60);
  }
}

expected<queue_store> queue_store::open(queue_lease lease) {
  const auto file = lease.params().at.file;
  std::optional<connection> c;
  try {
    c.emplace(connection::open(file));
    c->advice = queue_advice(file);
    c->advice.go_on = "the queue goes on by itself";
    return queue_store(std::make_unique<impl>(std::move(lease), std::move(*c)));
  } catch (const SQLite::Exception& e) {
    return store_failure(file, e, 0, queue_advice(file));
  }
}

void queue_store::when_lost(std::function<void()> lost) {
  impl_->keeper.when_lost(std::move(lost));
}

expected<void> queue_store::check_held() const {
  return impl_->keeper.is_lost() ? confirm_held() : expected<void>();
}

expected<void> queue_store::confirm_held() const {
  return impl_->check_ours();
}

bool queue_store::found_machine_down() const {
  return impl_->keeper.found_machine_down();
}

expected<std::int64_t> queue_store::append(std::span<const queue_event> events) {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<std::int64_t> {
    // Changes that are not committed are taken back as the transaction goes out of scope.
    SQLite::Transaction all(i.connected.db, SQLite::TransactionBehavior::IMMEDIATE);
    if (auto ours = i.check_ours(); !ours)
      return tl::unexpected(ours.error());
    const auto now = unix_ms();
    stored_event last{.sequence = i.sequence, .unix_ms = now, .checksum = i.checksum};
    for (const auto& e : events) {
      const auto kind = static_cast<std::int64_t>(kind_of(e));
      last.payload = encode(e);
      ++last.sequence;
      last.checksum =
          chained_checksum(last.checksum, last.sequence, now, kind, last.payload);
      i.append(last, kind);
    }
    i.insert.tryReset();
    all.commit();
    i.sequence = last.sequence;
    i.checksum = last.checksum;
    return now;
  });
}

expected<void> queue_store::append_copies(std::span<const stored_event> events,
                                          queue_state& state) {
  auto& i = *impl_;
  const auto sequence = i.sequence, checksum = i.checksum;
  auto stored = guarded(i.connected, [&]() -> expected<void> {
    SQLite::Transaction all(i.connected.db, SQLite::TransactionBehavior::IMMEDIATE);
    if (auto ours = i.check_ours(); !ours)
      return ours;
    for (const auto& e : events) {
      const auto folded = i.fold(e, state);
      if (!folded)
        return fail(folded.error().kind,
                    fmt::format("event {}: {}", e.sequence, folded.error().message));
      i.append(e, static_cast<std::int64_t>(kind_of(*folded)));
    }
    i.insert.tryReset();
    all.commit();
    return {};
  });
  if (!stored) {
    i.sequence = sequence;
    i.checksum = checksum;
  }
  return stored;
}

expected<std::vector<stored_event>> queue_store::read_after(std::uint64_t sequence,
                                                            std::size_t bytes) const {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<std::vector<stored_event>> {
    SQLite::Statement behind(i.connected.db,
                             std::string(all_events)
                                 + " where sequence > ? order by sequence");
    behind.bind(1, as_signed(sequence));
    std::vector<stored_event> events;
    for (std::size_t sum = 0; sum < bytes && behind.executeStep();) {
      events.push_back(event_of(behind));
      sum += events.back().payload.size() + sizeof(stored_event);
    }
    return events;
  });
}

expected<queue_state> queue_store::load(std::chrono::seconds half_life) {
  auto& i = *impl_;
  return guarded(i.connected, [&]() -> expected<queue_state> {
    queue_state state{.half_life = half_life};
    i.sequence = i.checksum = 0;
    SQLite::Statement all(i.connected.db, std::string(all_events) + " order by sequence");
    while (all.executeStep()) {
      const auto number = i.sequence + 1;
      auto folded = i.fold(event_of(all), state);
      if (folded && natural(all.getColumn(4)) != kind_of(*folded))
        folded = fail(error_kind::corrupt, "is said to be of another kind");
      if (!folded)
        return fail(folded.error().kind,
                    fmt::format("{}: event {}: {}: the file is damaged; {}",
                                i.connected.file.string(), number, folded.error().message,
                                i.connected.advice.damaged));
    }
    return state;
  });
}

std::uint64_t queue_store::size() const {
  return impl_->sequence;
}

std::uint64_t queue_store::checksum() const {
  return impl_->checksum;
}

} // namespace clade
