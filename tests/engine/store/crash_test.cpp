// Real processes, killed by real signals; a real limit on what may be written.
#include "engine/store/sqlite/run_lock.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

using namespace clade;
using namespace clade::test;

namespace {

/// Another process, which runs a function and is killed at the end, if it lives then.
/// The values that the function tells are read in whole numbers.
class process {
public:
  using teller = std::function<void(std::uint64_t)>;

  explicit process(const std::function<void(const teller&)>& run) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      close(ends[0]);
      run([&](std::uint64_t n) {
        if (write(ends[1], &n, sizeof n) != sizeof n)
          _exit(1);
      });
      _exit(0);
    }
    close(ends[1]);
    told_ = ends[0];
  }

  ~process() {
    kill();
    close(told_);
  }

  std::uint64_t hear() {
    std::uint64_t n = 0;
    REQUIRE(read(told_, &n, sizeof n) == sizeof n);
    return n;
  }

  /// The last thing told before the end.
  std::uint64_t hear_last(std::uint64_t last) {
    std::uint64_t n = 0;
    while (read(told_, &n, sizeof n) == sizeof n)
      last = n;
    return last;
  }

  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

private:
  pid_t pid_ = 0;
  int told_ = -1;
};

/// A batch of three candidates with weights, and their evaluations.
std::vector<entry> a_batch(std::uint64_t number) {
  std::vector<entry> entries;
  for (candidate_id id = 3 * number + 1; id <= 3 * number + 3; ++id) {
    entries.push_back(born(a_candidate(id)));
    entries.push_back(evaluated(an_evaluation(id, 0.5), bytes(20'000, 'w')));
  }
  return entries;
}

constexpr std::size_t batch_records = 6;

/// Whether it is whole, and what its tables count is what is there.
void check_whole(const store& s) {
  const auto all = read_all(s);
  INFO((all.failure ? all.failure->message : ""));
  CHECK_FALSE(all.failure);
  CHECK(all.records.size() == s.size());
  const auto overview = s.overview();
  REQUIRE(overview);
  CHECK(overview->records == all.records.size());
  CHECK(overview->born == all.records.size() / 2);
  CHECK(overview->evaluated == all.records.size() / 2);
}

/// The soft limit on a file's size, for as long as this lives; who writes beyond it gets
/// an error.
class size_limit {
public:
  explicit size_limit(std::uint64_t size) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{size, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  ~size_limit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

} // namespace

TEST_CASE("store: what was acknowledged is there after the process is killed") {
  for (const std::uint64_t kill_after : {1, 2, 7, 30}) {
    const scratch_folder folder;
    const auto file = folder.path() / "run.db";
    std::uint64_t acknowledged = 0;
    {
      process writer([&](const process::teller& tell) {
        auto s = store::create(file);
        for (std::uint64_t i = 0; s; ++i) {
          if (!s->append(a_batch(i)))
            _exit(1);
          tell(i + 1);
        }
      });
      while (acknowledged < kill_after)
        acknowledged = writer.hear();
      // It is in the middle of something now.
      writer.kill();
      acknowledged = writer.hear_last(acknowledged);
    }
    auto s = store::open(file);
    REQUIRE(s);
    CHECK(s->size() % batch_records == 0);
    CHECK(s->size() >= acknowledged * batch_records);
    // One more at most: that which was being written.
    CHECK(s->size() <= (acknowledged + 1) * batch_records);
    check_whole(*s);
    REQUIRE(s->append(a_batch(s->size() / batch_records)));
    check_whole(*s);
  }
}

TEST_CASE("store: who is killed again and again loses nothing that was acknowledged") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, a_batch(0));
  std::uint64_t acknowledged = 1;
  for (int life = 0; life < 5; ++life) {
    process writer([&](const process::teller& tell) {
      auto s = store::open(file);
      for (auto i = s ? s->size() / batch_records : 0; s; ++i) {
        if (!s->append(a_batch(i)))
          _exit(1);
        tell(i + 1);
      }
    });
    for (int heard = 0; heard < 3; ++heard) {
      const auto now = writer.hear();
      CHECK(now > acknowledged);
      acknowledged = now;
    }
    writer.kill();
    acknowledged = writer.hear_last(acknowledged);
  }
  const auto s = store::open(file);
  REQUIRE(s);
  CHECK(s->size() >= acknowledged * batch_records);
  check_whole(*s);
}

TEST_CASE("store: a second writer is told the process of the first") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  CHECK_FALSE(writer_of(file).has_value());
  write_store(file, a_history());
  CHECK_FALSE(writer_of(file).has_value());

  process first([&](const process::teller& tell) {
    const auto s = store::open(file);
    tell(s ? 1 : 0);
    pause();
  });
  REQUIRE(first.hear() == 1);
  const auto second = store::open(file);
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == error_kind::conflict);
  CHECK_THAT(second.error().message, Catch::Contains("open in another run, process "
                                                     + std::to_string(first.pid())));
  CHECK(writer_of(file) == first.pid());
  CHECK(store::open_to_read(file)->size() == a_history().size());

  first.kill();
  CHECK_FALSE(writer_of(file).has_value());
  CHECK(store::open(file).has_value());
}

TEST_CASE("store: a second writer in the same process is refused too") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto first = store::create(file);
  REQUIRE(first);
  CHECK(store::open(file).error().kind == error_kind::conflict);
  CHECK(writer_of(file) == getpid());
  // That it was tried leaves the lock as it was.
  CHECK(store::open(file).error().kind == error_kind::conflict);
  first = tl::unexpected(error{});
  CHECK_FALSE(writer_of(file).has_value());
  CHECK(store::open(file).has_value());
}

TEST_CASE("store: a process started meanwhile does not keep the lock") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto s = store::create(file);
  REQUIRE(s);
  process other([](const process::teller& tell) {
    tell(1);
    execlp("sleep", "sleep", "1000", nullptr);
  });
  REQUIRE(other.hear() == 1);
  // The pipe closes when the program is started.
  CHECK(other.hear_last(1) == 1);
  s = tl::unexpected(error{});
  CHECK_FALSE(writer_of(file).has_value());
}

TEST_CASE("store: when there is no room nothing is half recorded and it goes on when "
          "there is") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto s = store::create(file);
  REQUIRE(s);
  std::uint64_t batches = 0;
  std::optional<error> failure;
  {
    const size_limit limit(600'000);
    while (!failure) {
      REQUIRE(batches < 100);
      if (const auto appended = s->append(a_batch(batches)); !appended)
        failure = appended.error();
      else
        ++batches;
    }
    // Still none; and nothing has come of trying.
    CHECK_FALSE(s->append(a_batch(batches)).has_value());
    CHECK(s->size() == batches * batch_records);
    check_whole(*s);
  }
  CHECK(batches > 2);
  CHECK(failure->kind == error_kind::io);
  CHECK_THAT(failure->message, Catch::Contains("run.db: "));
  CHECK_THAT(failure->message, Catch::EndsWith("clade resume " + folder.path().string()));

  // In the same process, and in the next.
  REQUIRE(s->append(a_batch(batches)));
  check_whole(*s);
  s = tl::unexpected(error{});
  s = store::open(file);
  REQUIRE(s);
  CHECK(s->size() == (batches + 1) * batch_records);
  REQUIRE(s->append(a_batch(batches + 1)));
  check_whole(*s);
}

TEST_CASE("store: without room for a new store none is left behind") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  {
    const size_limit limit(20'000);
    const auto made = store::create(file);
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == error_kind::io);
  }
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(store::create(file).has_value());
}

TEST_CASE("store: it is read where nothing may be written") {
  const scratch_folder folder;
  const auto file = folder.path() / "a run#1?" / "run.db";
  std::filesystem::create_directory(file.parent_path());
  write_store(file, a_history());
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path(), perms(0755));
  std::filesystem::permissions(file, perms(0444));
  std::filesystem::permissions(file.parent_path(), perms(0555));
  process reader([&](const process::teller& tell) {
    // Root may write everywhere.
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(1);
    const auto s = store::open_to_read(file);
    tell(s ? read_all(*s).records.size() : 0);
  });
  CHECK(reader.hear() == a_history().size());
  std::filesystem::permissions(file.parent_path(), perms(0755));
}
