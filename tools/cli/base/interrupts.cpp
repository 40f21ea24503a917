#include "tools/cli/base/interrupts.hpp"

#include "tools/machine/supervisor.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace clade {

namespace {

// Signals that come together are handled in any order, and by several threads at once.
std::atomic<int> interrupts = 0;
std::atomic<int> last_interrupt = 2; // This one ends the process.
std::atomic<bool> hung_up = false, terminated = false;
static_assert(std::atomic<int>::is_always_lock_free
              && std::atomic<bool>::is_always_lock_free);

// Interrupts before the last are noticed by whoever asks; it ends the process here and
// now. The store needs no goodbye: whatever it acknowledged is on the disk.
extern "C" void on_interrupt(int signal) {
  // A service manager sends SIGHUP right after SIGTERM: it asks to stop, not to hurry.
  if (signal == SIGHUP) {
    hung_up = true;
    return;
  }
  if (signal == SIGTERM)
    terminated = true;
  if (++interrupts >= last_interrupt) {
    constexpr char words[] =
        "\nstopped at once; clade resume goes on from the last record\n";
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words, sizeof(words) - 1);
    ::_exit(130);
  }
}

std::function<bool()> watch(int last) {
  interrupts = 0;
  last_interrupt = last;
  hung_up = terminated = false;
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
