#include "actors/transport/tls/stranger_guard.hpp"
#include "tests/actors/transport/loopback.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <cerrno>

using namespace clade;
using namespace clade::test;

namespace {

/// Lets this process have 128 descriptors while it lives: 32 for strangers, 24 of these for
/// one of them, and the last 16 for what is no connection of a stranger.
class few_descriptors {
public:
  inline static constexpr rlim_t all = 128;
  inline static constexpr int kept_from = 112;
  inline static constexpr std::size_t of_one = 24;

  few_descriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit few{.rlim_cur = all, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;

  /// Takes descriptors until the next one would have this number, or none is left.
  void take_until(int number) {
    for (;;) {
      unique_fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!one || one.get() >= number)
        return;
      taken_.push_back(std::move(one));
    }
  }
  void give_back() { taken_.clear(); }

private:
  rlimit before_{};
  std::vector<unique_fd> taken_;
};

/// Both ends of a connection.
struct met {
  unique_fd connects, accepted;
};

met meet(const loopback_listener& at) {
  met made{.connects = at.connect(), .accepted = {}};
  made.accepted = at.accept();
  return made;
}

} // namespace

TEST_CASE("stranger guard: accept of this process is the guard's, for every library") {
  CHECK(accepting_is_guarded());
}

TEST_CASE("stranger guard: the oldest connection of one who has too many is cut off") {
  const few_descriptors few;
  const loopback_listener at;
  std::vector<met> all;
  while (all.size() < few.of_one)
    all.push_back(meet(at));
  for (const auto& one : all) {
    REQUIRE(one.accepted);
    CHECK_FALSE(has_ended(one.connects));
  }
  // One that has shown its keys is no longer counted, and never cut off.
  no_stranger(all[0].accepted.get());
  all.push_back(meet(at));
  CHECK_FALSE(has_ended(all[1].connects));
  all.push_back(meet(at));
  await_end(all[1].connects);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(has_ended(all[i].connects) == (i == 1));
}

TEST_CASE("stranger guard: who comes by no network is not counted") {
  const few_descriptors few;
  const unique_fd listens(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un at{}; // Without a name the kernel gives it one that is in no folder.
  at.sun_family = AF_UNIX;
  REQUIRE(::bind(listens.get(), reinterpret_cast<sockaddr*>(&at), sizeof(sa_family_t))
          == 0);
  REQUIRE(::listen(listens.get(), 4) == 0);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  REQUIRE(::getsockname(listens.get(), address, &size) == 0);
  std::vector<met> all;
  while (all.size() < few.of_one + 4) {
    met one{.connects = unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
            .accepted = {}};
    REQUIRE(::connect(one.connects.get(), address, size) == 0);
    one.accepted.reset(::accept(listens.get(), nullptr, nullptr));
    REQUIRE(one.accepted);
    all.push_back(std::move(one));
  }
  for (const auto& one : all)
    CHECK_FALSE(has_ended(one.connects));
}

TEST_CASE("stranger guard: the last descriptors are for no stranger") {
  few_descriptors few;
  const loopback_listener at;
  const noted_refusals refused;
  const auto former = meet(at);
  REQUIRE(former.accepted);
  // The connecting end takes the last that a stranger may have.
  few.take_until(few.kept_from - 1);
  const auto newest = meet(at);
  CHECK(newest.accepted.get() >= few.kept_from);
  await_end(former.connects);
  no_stranger(newest.accepted.get());
  // Now there is nobody else who could be cut off.
  const auto last = meet(at);
  CHECK_FALSE(last.accepted);
  await_end(last.connects);
  REQUIRE(refused.said().size() == 1);
  CHECK_THAT(refused.said()[0], Catch::EndsWith("too many came from there at once"));
}

TEST_CASE("stranger guard: where no descriptor is left, who waits is refused") {
  for (const bool blocks : {false, true}) {
    few_descriptors few;
    const loopback_listener at;
    REQUIRE(meet(at).accepted); // By now it has the descriptor that it refuses with.
    const auto waits = at.connect();
    if (blocks)
      REQUIRE(::fcntl(at.get(), F_SETFL, 0) == 0);
    few.take_until(few.all);
    errno = 0;
    const auto none = at.accept();
    const int why = errno;
    CHECK_FALSE(none);
    // CAF goes on after the one, and the web server, whose sockets block, after the other.
    CHECK(why == (blocks ? EMFILE : EAGAIN));
    await_end(waits);
    few.give_back();
    CHECK(meet(at).accepted);
  }
}

TEST_CASE("stranger guard: a port for one's own user turns away who has gone already") {
  const loopback_listener at;
  const noted_refusals refused;
  auto gone = at.connect();
  gone.reset();
  CHECK(at.accept()); // Another port takes it.
  admit_own_user_only(at.port());
  CHECK(meet(at).accepted);
  gone = at.connect();
  const auto from = port_of(gone);
  gone.reset();
  CHECK_FALSE(at.accept());
  CHECK(refused.said()
        == std::vector<std::string>{"refused a connection from 127.0.0.1 port "
                                    + std::to_string(from) + ": it has ended already"});
}
