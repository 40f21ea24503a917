#include "engine/evaluation/process/process_table.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

using namespace clade;

namespace {

const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));

std::string a_stat(const std::string& id, const std::string& name,
                   const std::string& parent) {
  return id + " (" + name + ") S " + parent
         + " 7 7 0 -1 4194560 1 0 0 0 30 20 0 0 20 0 1 0 5 6 3 18446744073709551615\n";
}

process_entry child_of(pid_t parent, pid_t id) {
  return {.id = id, .parent = parent, .resident_bytes = 1};
}

std::vector<pid_t> ids_below(pid_t ancestor, const std::vector<process_entry>& all) {
  std::vector<pid_t> ids;
  for (const auto& p : below(ancestor, all))
    ids.push_back(p.id);
  return ids;
}

/// A child of this process that waits to be killed.
class waiting_child {
public:
  waiting_child() : id_(::fork()) {
    if (id_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ~waiting_child() { end(); }
  waiting_child(const waiting_child&) = delete;
  waiting_child& operator=(const waiting_child&) = delete;

  void end() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ended_ = std::exchange(id_, 0);
  }
  [[nodiscard]] pid_t id() const { return id_ > 0 ? id_ : ended_; }

private:
  pid_t id_ = 0, ended_ = 0;
};

} // namespace

TEST_CASE("process table: a name may hold blanks, parentheses and ends of lines") {
  const process_entry expected{
      .id = 12, .parent = 3, .cpu_seconds = 50 / tick, .resident_bytes = 3 * page};
  for (const auto* name : {"sh", "a b", "", ")", "(", ") R 1 (", "a) S 99 1\n2"})
    CHECK(parse_process(a_stat("12", name, "3")) == expected);
}

TEST_CASE("process table: a text that is none of a process is not taken for one") {
  const auto whole = a_stat("12", "sh", "3");
  for (const auto& text :
       {std::string(), std::string("12"), std::string("12 (sh"),
        std::string("12 sh) S 3"), std::string(") 12 (sh S 3"),
        std::string("12 (sh) S 3 7 7"),
        whole.substr(0, whole.find(" 3 18446744073709551615")), a_stat("x", "sh", "3"),
        a_stat("12", "sh", "-"), a_stat("99999999999999999999", "sh", "3")})
    CHECK(parse_process(text) == std::nullopt);
}

TEST_CASE("process table: what is no process, or has vanished, is passed over") {
  const scratch_folder proc;
  namespace fs = std::filesystem;
  for (const auto* name : {"12", "13", "self", "1x"})
    fs::create_directory(proc.path() / name);
  for (const auto* name : {"12", "self", "1x"})
    std::ofstream(proc.path() / name / "stat") << a_stat("12", "sh", "3");
  std::ofstream(proc.path() / "14") << "a file";
  const auto all = read_processes(proc.path());
  REQUIRE(all.size() == 1);
  CHECK(all.front().id == 12);
  CHECK(read_processes(proc.path() / "nothing").empty());
}

TEST_CASE("process table: a ring of parents ends") {
  CHECK(ids_below(1, {child_of(1, 5), child_of(5, 4), child_of(9, 6), child_of(4, 7)})
        == std::vector<pid_t>{4, 5, 7});
  // 2 and 3 are each other's parents, beside 1 and above it.
  CHECK(ids_below(1, {child_of(2, 3), child_of(3, 2)}).empty());
  CHECK(ids_below(2, {child_of(2, 3), child_of(3, 2)}) == std::vector<pid_t>{3});
  CHECK(ids_below(1, {child_of(3, 1), child_of(1, 2), child_of(2, 3), child_of(4, 4)})
        == std::vector<pid_t>{2, 3});
}

TEST_CASE("process table: a process is there with its words and files until it ends") {
  const scratch_folder folder;
  const auto written = folder.path() / "written";
  const int file = ::open(written.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  waiting_child child;
  ::close(file);
  const auto is_seen = [&] {
    const auto ids = ids_below(::getpid(), read_processes());
    return std::ranges::find(ids, child.id()) != ids.end();
  };
  const auto writes = [&] {
    const auto files = files_written_by(child.id());
    return std::ranges::any_of(files, [&](const auto& one) {
      std::error_code failed;
      return std::filesystem::equivalent(one, written, failed);
    });
  };
  CHECK(is_seen());
  CHECK(writes());
  CHECK(words_of(child.id()) == words_of(::getpid()));
  CHECK(resident_bytes_below(::getpid(), child.id()) < resident_bytes_below(::getpid()));
  child.end();
  CHECK_FALSE(is_seen());
  CHECK_FALSE(writes());
  CHECK(words_of(child.id()).empty());
}
