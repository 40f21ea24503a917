// One poll loop for everything: connections to members before this one, those of members
// after it, and those of strangers, which say nothing, or what no member says. A stranger
// is dropped after `hello_time`, or when too many are there. A connection of another
// formation is closed without a word: if it is of a later one, its member tries again,
// until this process is told of the later one and forms that.
#include "actors/transport/team/team_forming.hpp"

#include "actors/transport/tls/c_deleter.hpp"
#include "actors/transport/tls/stranger_guard.hpp"
#include "actors/transport/tls/tls_guard.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {
namespace {

using namespace std::chrono_literals;

constexpr auto hello_time = 2s;
constexpr auto first_pause = 10ms, longest_pause = 250ms;
constexpr std::size_t most_strangers = 64;
constexpr int accepted_at_once = 32;
constexpr std::size_t most_named = 3;
// In `polled_`, before the members and then those that came.
constexpr std::size_t interrupt_place = 0, listener_place = 1, first_member_place = 2;

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

// A machine that is gone is noticed within a minute. The sizes of buffers are left to the
// kernel, which lets them grow further than an unprivileged process may.
void tune_connection(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 20);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
}

/// A socket that is connecting to one of the addresses of a name, in turn.
expected<unique_fd> start_connecting(const endpoint& to, std::size_t turn) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int failed =
          ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
      failed != 0)
    return fail(error_kind::refused, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, c_deleter<::freeaddrinfo>> all(found);
  std::vector<const addrinfo*> addresses;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next)
    addresses.push_back(a);
  const auto& a = *addresses[turn % addresses.size()];
  unique_fd s(::socket(a.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!s || (::connect(s.get(), a.ai_addr, a.ai_addrlen) != 0 && errno != EINPROGRESS))
    return fail(error_kind::refused, std::strerror(errno));
  tune_connection(s.get());
  return s;
}

std::string numeric_host(const sockaddr_storage& address, socklen_t size) {
  char text[NI_MAXHOST] = "an address that is gone";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof(text),
                nullptr, 0, NI_NUMERICHOST);
  return text;
}

team_hello hello_of(const team_formation& f) {
  if (f.own >= f.members.size() || f.members.size() > most_team_members)
    throw team_broken(fmt::format("there is no team of {} members with a member {}",
                                  f.members.size(), f.own));
  return {.task = f.task,
          .generation = f.generation,
          .checksum = f.checksum,
          .own = static_cast<std::uint32_t>(f.own),
          .members = static_cast<std::uint32_t>(f.members.size())};
}

} // namespace

// Before it is closed: its number may be another's the moment after.
team_forming::arrival::~arrival() {
  no_stranger(greeting.descriptor());
}

team_forming::team_forming(const team_forming_params& params)
    : params_(params),
      own_(hello_of(params.formation)),
      seats_(params.formation.members.size()) {
  for (std::size_t i = 0; i < seats_.size(); ++i)
    seats_[i].name =
        fmt::format("member {} at {}", i, to_text(params.formation.members[i]));
}

std::unique_ptr<team_links> team_forming::run() {
  for (;;) {
    connect_due();
    // One that was let in may have gone before: all are looked at once more.
    const bool complete = all_linked();
    wait(complete ? 0 : patience());
    look_at_members();
    if (complete && all_linked())
      return linked();
    look_at_arrivals();
    drop_late();
    accept_new();
  }
}

bool team_forming::all_linked() const {
  return std::ranges::count_if(seats_, [](const seat& s) { return s.stream.has_value(); })
         == static_cast<std::ptrdiff_t>(seats_.size() - 1);
}

bool team_forming::waits_for_arrivals() const {
  return std::any_of(seats_.begin() + own_.own + 1, seats_.end(),
                     [](const seat& s) { return !s.stream; });
}

std::unique_ptr<team_links> team_forming::linked() {
  std::vector<team_peer> peers;
  for (auto& s : seats_)
    peers.push_back({std::move(s.name), std::move(s.stream)});
  return std::make_unique<team_links>(own_.own, std::move(peers), params_.interrupt);
}

void team_forming::connect_due() {
  const auto now = clock::now();
  for (std::size_t i = 0; connects_to(i); ++i)
    if (!seats_[i].stream && !seats_[i].greeting && seats_[i].next_try <= now)
      connect(i);
}

void team_forming::connect(std::size_t member) {
  auto& s = seats_[member];
  auto stream =
      start_connecting(params_.formation.members[member], s.tries++)
          .and_then([&](unique_fd&& socket) {
            return tls_stream::over(std::move(socket), params_.keys, tls_side::client);
          });
  if (!stream)
    return try_again(member, stream.error().message);
  s.greeting.emplace(std::move(*stream), tls_side::client, own_);
  go_on(member);
}

void team_forming::go_on(std::size_t member) {
  auto& g = *seats_[member].greeting;
  const auto now = g.advance();
  if (now == team_greeting::state::ended)
    try_again(member, std::string(g.why_ended()));
  else if (now == team_greeting::state::heard)
    hear(member);
}

void team_forming::hear(std::size_t member) {
  auto& s = seats_[member];
  const auto theirs = s.greeting->hello();
  if (!theirs)
    return try_again(member, theirs.error().message);
  const auto matched = match(own_, *theirs);
  if (theirs->own != member || matched == team_match::other_team)
    return try_again(member, "a member of another team answers there");
  if (matched == team_match::other_contents)
    has_other_contents(s.name);
  s.stream = s.greeting->take();
  s.greeting.reset();
}

void team_forming::try_again(std::size_t member, const std::string& why) {
  auto& s = seats_[member];
  s.trouble = why;
  s.greeting.reset();
  s.stream.reset();
  s.pause =
      std::clamp<std::chrono::milliseconds>(2 * s.pause, first_pause, longest_pause);
  s.next_try = clock::now() + s.pause;
}

void team_forming::accept_new() {
  for (int i = 0; waits_for_arrivals() && i < accepted_at_once; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    unique_fd socket(::accept4(params_.listener, reinterpret_cast<sockaddr*>(&address),
                               &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket)
      return;
    const int descriptor = socket.get();
    tune_connection(descriptor);
    auto stream = tls_stream::over(std::move(socket), params_.keys, tls_side::server);
    if (!stream) {
      no_stranger(descriptor);
      refused_ = stream.error().message;
      continue;
    }
    if (arrivals_.size() == most_strangers + seats_.size()) {
      refuse(arrivals_.front(), "newer ones came before it had said who it is");
      arrivals_.pop_front();
    }
    arrivals_.emplace_back(team_greeting(std::move(*stream), tls_side::server, own_),
                           numeric_host(address, size), clock::now(), ++arrived_);
  }
}

bool team_forming::go_on(arrival& a) {
  switch (a.greeting.advance()) {
  case team_greeting::state::waiting:
    return true;
  case team_greeting::state::heard:
    return hear(a);
  case team_greeting::state::complete:
    let_in(a);
    return false;
  case team_greeting::state::ended:
    refuse(a, a.greeting.why_ended());
    return false;
  }
  return false;
}

bool team_forming::hear(arrival& a) {
  const auto theirs = a.greeting.hello();
  if (!theirs) {
    refuse(a, theirs.error().message);
    return false;
  }
  no_stranger(a.greeting.descriptor());
  const auto matched = match(own_, *theirs);
  if (matched == team_match::other_team || theirs->own <= own_.own)
    return false;
  a.member = theirs->own;
  a.greeting.answer();
  const bool stays = go_on(a);
  if (matched == team_match::other_contents)
    has_other_contents(seats_[theirs->own].name);
  return stays;
}

// A member that connects again has given its former connection up.
void team_forming::let_in(arrival& a) {
  auto& s = seats_[*a.member];
  if (s.stream && s.arrival > a.number)
    return;
  s.stream = a.greeting.take();
  s.arrival = a.number;
}

void team_forming::refuse(const arrival& a, const std::string& why) {
  refused_ = fmt::format("{}: {}", a.from, why);
  tell_refusal(refused_);
}

void team_forming::drop_late() {
  const auto now = clock::now();
  std::erase_if(arrivals_, [&](const arrival& a) {
    if (now - a.since < hello_time)
      return false;
    refuse(a, "it did not say who it is in time");
    return true;
  });
}

void team_forming::wait(int most_ms) {
  polled_.resize(first_member_place);
  polled_[interrupt_place] = {.fd = params_.interrupt, .events = POLLIN, .revents = 0};
  polled_[listener_place] = {
      .fd = waits_for_arrivals() ? params_.listener : -1, .events = POLLIN, .revents = 0};
  for (const auto& s : seats_) {
    // The links read what a linked member sends already; here it matters whether it goes.
    if (s.stream)
      polled_.push_back({s.stream->descriptor(), POLLRDHUP, 0});
    else if (s.greeting)
      polled_.push_back({s.greeting->descriptor(), s.greeting->events(), 0});
    else
      polled_.push_back({-1, 0, 0});
  }
  for (const auto& a : arrivals_)
    polled_.push_back({a.greeting.descriptor(), a.greeting.events(), 0});
  if (::poll(polled_.data(), polled_.size(), most_ms) < 0 && errno != EINTR)
    throw team_broken(std::string("poll: ") + std::strerror(errno));
  if (polled_[interrupt_place].revents != 0)
    throw team_broken("the team is formed anew, or its task is dropped");
  if (clock::now() >= params_.until && !all_linked())
    give_up();
}

int team_forming::patience() const {
  auto until = params_.until;
  for (std::size_t i = 0; connects_to(i); ++i)
    if (!seats_[i].stream && !seats_[i].greeting)
      until = std::min(until, seats_[i].next_try);
  if (!arrivals_.empty())
    until = std::min(until, arrivals_.front().since + hello_time);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds>(left, 0ms, 1h).count());
}

void team_forming::look_at_members() {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (polled_[first_member_place + i].revents == 0)
      continue;
    if (seats_[i].stream)
      try_again(i, "it closed the connection");
    else
      go_on(i);
  }
}

void team_forming::look_at_arrivals() {
  std::size_t place = first_member_place + seats_.size();
  std::erase_if(arrivals_,
                [&](arrival& a) { return polled_[place++].revents != 0 && !go_on(a); });
}

void team_forming::give_up() const {
  std::string all;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i)
    if (i != own_.own && !seats_[i].stream && ++missing <= most_named)
      all += fmt::format("; {}: {}", seats_[i].name, seats_[i].trouble);
  if (missing > most_named)
    all += fmt::format("; and {} more", missing - most_named);
  if (!refused_.empty())
    all += "; refused meanwhile: " + refused_;
  throw team_broken("not all members of the team came in time" + all);
}

void team_forming::has_other_contents(const std::string& name) {
  throw team_broken(name + " has other code, data or another experiment");
}

} // namespace clade
