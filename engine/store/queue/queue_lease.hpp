#pragma once

#include "engine/store/queue/queue_file.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace clade {

/// This machine since it was started, as a name that no other has; containers of one
/// kernel share it, and its locks.
[[nodiscard]] std::string this_machine();

struct queue_lease_params {
  queue_file_params at;
  std::string machine = this_machine();
  /// A holder of another machine that has not renewed its lease for so long has lost it.
  std::chrono::milliseconds patience{6000};
};

/// Which of several servers of one queue writes to its store: the one whose number is in
/// the file. Who takes the lease raises the number, so that whoever had it before, and does
/// not know yet, can write no more (queue_store::append looks).
///
/// A holder is gone when the lock that it has on its machine is free, which is seen at once
/// on that machine; or when it has not renewed the lease for `patience`, as the one who
/// waits saw by its own steady clock, so that clocks need not agree. One thread at a time.
class queue_lease {
public:
  queue_lease(queue_lease&&) noexcept;
  queue_lease& operator=(queue_lease&&) noexcept;
  /// Gives it back, where it is ours: the next need not wait.
  ~queue_lease();

  /// Opens the file, which is made where there is none; nothing is taken yet. Errors are
  /// those of `open_queue_file`.
  [[nodiscard]] static expected<queue_lease> open(const queue_lease_params& params);

  enum class answer {
    taken,
    held, ///< Its holder is alive.
    unknown ///< Its holder is of another machine, or another server is taking it: ask again.
  };
  using clock = std::chrono::steady_clock;
  /// Takes it where nobody holds it any more. To be called again and again while one waits,
  /// several times within `patience`.
  [[nodiscard]] expected<answer> try_take(clock::time_point now = clock::now());

  /// Who held it at the last look, if not we: "process 12", "process 12 on lab2".
  [[nodiscard]] const std::string& holder() const;
  /// Whether this machine was started anew while the one before held the lease: it went down
  /// with what ran there. Once it is taken; false where several machines have the folder.
  [[nodiscard]] bool found_machine_down() const;
  /// Returns the number that was taken; 0: nothing yet.
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] const queue_lease_params& params() const;

  /// Says that the holder is there. Returns whether the lease is still its own.
  [[nodiscard]] expected<bool> renew();

private:
  struct impl;
  explicit queue_lease(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// Compares the number in an open file with `number`: nothing, or the error that another
/// server has taken over. Throws SQLite::Exception.
[[nodiscard]] expected<void> check_lease(const connection& c, std::uint64_t number);

} // namespace clade
