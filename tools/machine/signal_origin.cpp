#include "tools/machine/signal_origin.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace clade {

namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

int told = -1;
std::array<struct sigaction, NSIG> former;

// The kernel sends with a positive code, and abort() and raise() in this process's name.
void look_at_sender(int signal, siginfo_t* info, void*) {
  const bool own = info->si_code > 0 || info->si_pid == ::getpid();
  if (!own) {
    const char byte = signal_was_sent;
    [[maybe_unused]] const auto written = ::write(told, &byte, 1);
  }
  ::sigaction(signal, &former[static_cast<std::size_t>(signal)], nullptr);
  // A faulty instruction is run again and meets it; what was sent has to be sent again.
  if (info->si_code <= 0)
    ::raise(signal);
}

} // namespace

void tell_sent_signals(int descriptor) {
  told = descriptor;
  struct sigaction look {};
  look.sa_sigaction = look_at_sender;
  look.sa_flags = SA_SIGINFO;
  for (const int s : faults)
    ::sigaction(s, &look, &former[static_cast<std::size_t>(s)]);
}

bool is_fault(int signal) {
  return std::ranges::find(faults, signal) != faults.end();
}

} // namespace clade
