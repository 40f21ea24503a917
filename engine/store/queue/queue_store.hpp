#pragma once

#include "engine/queue/queue_state.hpp"
#include "engine/store/queue/queue_lease.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace clade {

/// An event as it is stored.
struct stored_event {
  std::uint64_t sequence = 0; ///< From 1, without gaps.
  std::int64_t unix_ms = 0;
  bytes payload{};            ///< `encode` of the event.
  std::uint64_t checksum = 0; ///< Chained over the predecessor's.

  friend bool operator==(const stored_event&, const stored_event&) = default;
};

/// The store of a queue: one SQLite file (synchronous=FULL) with the queue's events in
/// their order, each with a checksum that is chained over its predecessor's. Who holds the
/// lease writes to it, and nobody else. Every call blocks on the disk. One thread at a
/// time; a thread of its own renews the lease.
class queue_store {
public:
  queue_store(queue_store&&) noexcept;
  queue_store& operator=(queue_store&&) noexcept;
  ~queue_store();

  /// Opens the file, which is made where there is none, and takes its lease. `conflict`: a
  /// running process holds it, or a newer version made it. `corrupt`: it is no queue.
  [[nodiscard]] static expected<queue_store> open(const std::filesystem::path& file);
  /// The same with a lease that was taken.
  [[nodiscard]] static expected<queue_store> open(queue_lease lease);

  /// From now on `lost` is called once, in a thread of the store's own, when the lease is
  /// lost; null: nobody is told.
  void when_lost(std::function<void()> lost);
  /// The error that the lease was lost, once it was noticed. Looks at no file.
  [[nodiscard]] expected<void> check_held() const;
  /// The same of the lease as the file has it now.
  [[nodiscard]] expected<void> confirm_held() const;

  /// `queue_lease::found_machine_down` of its lease.
  [[nodiscard]] bool found_machine_down() const;

  /// One transaction: when it returns, all are on the disk, or none. Returns the time of
  /// all of them, milliseconds since 1970. `io` also where the lease was lost.
  [[nodiscard]] expected<std::int64_t> append(std::span<const queue_event> events);

  /// Stores events of another store behind those that are here, in one transaction, and
  /// folds them in. `corrupt`: they are not what follows; the state is then of no use.
  [[nodiscard]] expected<void> append_copies(std::span<const stored_event> events,
                                             queue_state& state);

  /// The events behind that one, until together they have so many bytes or more.
  [[nodiscard]] expected<std::vector<stored_event>> read_after(std::uint64_t sequence,
                                                               std::size_t bytes) const;

  /// The fold of all that is stored. `corrupt` names the first event that is not whole, or
  /// does not fit those before it.
  [[nodiscard]] expected<queue_state> load(std::chrono::seconds half_life);

  /// How many events are stored, as of `load` and each `append` since.
  [[nodiscard]] std::uint64_t size() const;
  /// That of the last event; 0: there is none.
  [[nodiscard]] std::uint64_t checksum() const;

  /// 2: the lease.
  inline static constexpr int schema_version = 2;

private:
  struct impl;
  explicit queue_store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
