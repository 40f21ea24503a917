#include "tools/doctor/machine_checks.hpp"

#include "engine/evaluation/process/isolation.hpp"
#include "engine/report/base/format.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/machine/devices.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/machine/program_groups.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

namespace clade {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

constexpr std::size_t record_bytes = 4096, bulk_bytes = std::size_t{32} << 20;
constexpr int records = 21;

// A search of ten candidates a second still waits for the disk for a fifth of the time.
constexpr seconds slow_record{0.02};
constexpr std::uint64_t scarce_space = std::uint64_t{1} << 30;
constexpr std::uint64_t least_space = std::uint64_t{64} << 20;

std::string plain_error(int number) {
  return std::strerror(number);
}

/// File systems whose files are on another machine (linux/magic.h, and statfs(2)).
bool is_of_network(decltype(std::declval<struct statfs>().f_type) type) {
  constexpr std::array<std::uint32_t, 6> magics{
      0x6969,     // NFS
      0xff534d42, // CIFS
      0xfe534d42, // SMB 2
      0x517b,     // SMB
      0x00c36400, // Ceph
      0x0bd00bd0, // Lustre
  };
  return std::ranges::find(magics, static_cast<std::uint32_t>(type)) != magics.end();
}

/// The nearest folder above that exists.
fs::path existing_part(fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder, ignored);
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

expected<seconds> time_of_record(int file) {
  const std::string record(record_bytes, 'x');
  std::array<seconds, records> times{};
  for (auto& taken : times) {
    const auto start = clock::now();
    if (const int failed = write_all(file, record); failed != 0)
      return fail(error_kind::io, plain_error(failed));
    if (::fdatasync(file) != 0)
      return fail(error_kind::io, plain_error(errno));
    taken = clock::now() - start;
  }
  std::ranges::sort(times);
  return times[records / 2];
}

expected<seconds> time_of_bulk(int file) {
  const auto start = clock::now();
  if (const int failed = write_all(file, std::string(bulk_bytes, 'x')); failed != 0)
    return fail(error_kind::io, plain_error(failed));
  if (::fdatasync(file) != 0)
    return fail(error_kind::io, plain_error(errno));
  return seconds(clock::now() - start);
}

expected<disk_speed> measure(const fs::path& folder) {
  struct statvfs space {};
  struct statfs kind {};
  if (::statvfs(folder.c_str(), &space) != 0 || ::statfs(folder.c_str(), &kind) != 0)
    return fail(error_kind::io, plain_error(errno));
  disk_speed speed{.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize,
                   .of_network = is_of_network(kind.f_type)};
  auto name = (folder / ".clade-doctor-XXXXXX").string();
  const unique_fd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file)
    return fail(error_kind::io, plain_error(errno));
  ::unlink(name.c_str());
  const auto record = time_of_record(file.get());
  if (!record)
    return tl::unexpected(record.error());
  speed.record = *record;
  // A measurement is not to fill what is nearly full.
  if (speed.free_bytes < least_space + bulk_bytes)
    return speed;
  return time_of_bulk(file.get()).map([&](seconds taken) {
    speed.bytes_per_second = bulk_bytes / taken.count();
    return speed;
  });
}

finding limit_of(const char* about, decltype(RLIMIT_NOFILE) which, rlim_t enough,
                 const char* option) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0)
    return {about, health::broken, plain_error(errno), "this system does not say"};
  if (limit.rlim_cur == RLIM_INFINITY)
    return {about, health::good, "no limit"};
  const auto number = std::to_string(limit.rlim_cur);
  if (limit.rlim_cur >= enough)
    return {about, health::good, number};
  return {about, health::poor, number,
          fmt::format("many slots or viewers need more: ulimit {} {}", option, enough)};
}

} // namespace

finding judge(const disk_speed& disk, const fs::path& folder) {
  char record[32];
  std::snprintf(record, sizeof record, "%.2g ms", 1000 * disk.record.count());
  finding f{.about = "disk",
            .found =
                fmt::format("{}: a record is safe in {}, ", folder.string(), record)};
  if (disk.bytes_per_second > 0)
    f.found += size_text(static_cast<std::uint64_t>(disk.bytes_per_second)) + "/s, ";
  f.found += size_text(disk.free_bytes) + " free";
  if (disk.free_bytes < least_space) {
    f.is = health::broken;
    f.advice =
        "a run stops, resumable, when the disk is full: make room, or name another "
        "with --runs";
  } else if (disk.of_network) {
    f.is = health::poor;
    f.advice = "these files are on another machine, where SQLite's locks may not hold: "
               "keep runs on a disk of the machine that leads them";
  } else if (disk.free_bytes < scarce_space) {
    f.is = health::poor;
    f.advice = "checkpoints and final models of a long search may need more";
  } else if (disk.record > slow_record) {
    f.is = health::poor;
    f.advice = "each evaluation waits for its record: a local SSD takes under 1 ms";
  }
  return f;
}

finding check_disk(const fs::path& folder) {
  const auto where = existing_part(folder);
  const auto speed = measure(where);
  if (speed)
    return judge(*speed, where);
  return {"disk", health::broken,
          fmt::format("{}: {}", where.string(), speed.error().message),
          "runs cannot be kept there: mend it, or name another folder with --runs"};
}

finding check_control_groups(const fs::path& root) {
  const auto found = find_program_groups(root);
  if (found)
    return {"control groups", health::good,
            "the kernel keeps programs within their memory, in groups below "
                + found->string()};
  return {"control groups", health::poor, found.error().message,
          "the memory of commands is watched several times a second instead; for a group "
          "of your own: systemd-run --user --scope -p Delegate=yes clade ..."};
}

finding check_isolation() {
  const auto tried = isolation::make({});
  if (tried)
    return {"programs", health::good,
            "those of [command] cannot read the keys of their run"};
  return {"programs", health::poor,
          "those of [command] can read the keys of their run: " + tried.error().message,
          "let users have namespaces (sysctl user.max_user_namespaces, "
          "kernel.apparmor_restrict_unprivileged_userns; seccomp in containers), or give "
          "programs that you do not trust a user of their own"};
}

std::vector<finding> check_limits() {
  std::vector<finding> all;
  if (const auto enough = check_process_limits(); !enough)
    all.push_back({"limits", health::broken, enough.error().message, "see ulimit -a"});
  all.push_back(limit_of("open files", RLIMIT_NOFILE, 1024, "-n"));
  all.push_back(limit_of("processes", RLIMIT_NPROC, 1024, "-u"));
  return all;
}

finding check_clock() {
  struct timex state {};
  const auto now = static_cast<std::int64_t>(::time(nullptr)) * 1000;
  // Keys are valid from the moment they are made; a clock before this program is wrong.
  constexpr std::int64_t program_written = 1'790'000'000'000; // September 2026
  if (now < program_written)
    return {"clock", health::broken, time_text(now),
            "it is behind: keys are not valid yet; set it (timedatectl set-ntp true)"};
  if (::adjtimex(&state) < 0)
    return {"clock", health::poor,
            time_text(now) + ", and nobody says whether it is right",
            "dates of keys and records go by it"};
  if ((state.status & STA_UNSYNC) != 0)
    return {"clock", health::poor, time_text(now) + ", not synchronised",
            "keys have dates: machines whose clocks differ refuse each other; "
            "timedatectl set-ntp true, or chrony"};
  return {"clock", health::good, time_text(now) + ", synchronised"};
}

std::vector<finding> check_resources() {
  const auto m = look_at_machine();
  if (!m)
    return {{"machine", health::broken, m.error().message, "see clade devices"}};
  std::vector<finding> all;
  all.push_back({"cores", health::good,
                 fmt::format("{} ({}), time for {}", m->cores.size(),
                             cores_text(m->cores), cpu_slots(*m))});
  constexpr std::uint64_t enough_memory = std::uint64_t{1} << 30;
  const bool scarce = m->memory_free < enough_memory;
  all.push_back({"memory", scarce ? health::poor : health::good,
                 fmt::format("{} free of {}", size_text(m->memory_free),
                             size_text(m->memory_total)),
                 scarce ? "networks may not fit: clade plan says what they need" : ""});
  if (!m->gpu_trouble.empty())
    all.push_back({"GPUs", health::broken, m->gpu_trouble,
                   "the driver is there and does not answer: see nvidia-smi"});
  for (const auto& g : m->gpus)
    all.push_back({fmt::format("cuda:{}", g.index), health::good,
                   fmt::format("{}, {} free of {}", g.name, size_text(g.free_bytes),
                               size_text(g.total_bytes))});
  return all;
}

} // namespace clade
