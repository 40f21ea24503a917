#include "tools/cli/base/interrupts.hpp"

#include "tools/machine/supervisor.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace clade {

namespace {

// Signals that come together are handled in any order, and by several threads at once.
std::atomic<int> interrupts = 0;
std::atomic<int> last_interrupt = 2; // This one ends the process.
std::atomic<bool> hung_up = false, terminated = false;
std::atomic<std::int64_t> terminated_ms = 0; // When it was last asked so.
static_assert(std::atomic<int>::is_always_lock_free
              && std::atomic<std::int64_t>::is_always_lock_free
              && std::atomic<bool>::is_always_lock_free);

// A signal that is sent to a process and to its group asks once: `timeout` does so.
bool is_the_same_again() {
  constexpr std::int64_t at_once_ms = 1000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  const auto before = terminated_ms.exchange(ms);
  return before != 0 && ms - before < at_once_ms;
}

// Interrupts before the last are noticed by whoever asks; it ends the process here and
// now. The store needs no goodbye: whatever it acknowledged is on the disk.
extern "C" void on_interrupt(int signal) {
  // A service manager sends SIGHUP right after SIGTERM: it asks to stop, not to hurry.
  if (signal == SIGHUP) {
    hung_up = true;
    return;
  }
  if (signal == SIGTERM) {
    terminated = true;
    if (is_the_same_again())
      return;
  }
  if (++interrupts >= last_interrupt) {
    constexpr char words[] =
        "\nstopped at once; nothing that was recorded is lost, and clade resume goes on "
        "with a run\n";
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words, sizeof(words) - 1);
    ::_exit(130);
  }
}

std::function<bool()> watch(int last) {
  interrupts = 0;
  last_interrupt = last;
  hung_up = terminated = false;
  terminated_ms = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  for (int s : {SIGINT, SIGTERM})
    sigaction(s, &action, nullptr);
  if (!is_ignored(SIGHUP)) // The signal stays ignored, as nohup leaves it.
    sigaction(SIGHUP, &action, nullptr);
  return [] { return interrupts > 0 || hung_up; };
}

} // namespace

std::function<bool()> watch_interrupts() {
  return watch(2);
}

bool was_terminated() {
  return terminated;
}

void block_interrupts() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int s : {SIGINT, SIGTERM, SIGHUP})
    ::sigaddset(&ends, s);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

interrupt_watch watch_two_interrupts() {
  return {.asked = watch(3), .hurried = [] { return interrupts > 1; }};
}

} // namespace clade
