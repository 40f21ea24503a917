#include "tools/doctor/device_checks.hpp"

#include "engine/report/base/format.hpp"
#include "engine/training/final/device_work.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/machine/nvml.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <iostream>

namespace clade {

namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

constexpr double work_seconds = 0.4;
// LibTorch may lie on a slow disk of a cluster, and a GPU be woken first.
constexpr std::chrono::minutes most_waiting{2};
constexpr double parallel_share = 0.7;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

expected<device_report> measured(const loaded_device_work& loaded, unsigned& times) {
  constexpr unsigned few = 3;
  for (times = few;; times *= 2) {
    const auto start = clock::now();
    if (auto done = loaded.work->multiply(times); !done)
      return tl::unexpected(done.error());
    const double taken = seconds_since(start);
    if (taken < work_seconds / 2)
      continue;
    const double per_second = times / taken;
    times = static_cast<unsigned>(std::ceil(work_seconds * per_second));
    return device_report{.torch = loaded.build.version,
                         .cuda = loaded.build.cuda,
                         .per_second = per_second * device_work::operations};
  }
}

/// A process on one slot, as its parent has it.
class product_process {
public:
  product_process() = default;
  product_process(product_process&& other) noexcept = default;
  product_process& operator=(product_process&& other) noexcept = default;
  ~product_process() { end(); }

  [[nodiscard]] expected<void> start(const slot& s);
  /// The next line that it writes.
  [[nodiscard]] expected<std::string> line();
  /// Has it do its work again; `line` returns when it is done.
  [[nodiscard]] expected<void> go();

private:
  void end();
  [[nodiscard]] std::string last_words();

  struct owned_process {
    pid_t id = 0;
    owned_process() = default;
    owned_process(owned_process&& other) noexcept : id(std::exchange(other.id, 0)) {}
    owned_process& operator=(owned_process&& other) noexcept {
      std::swap(id, other.id);
      return *this;
    }
  } process_;
  unique_fd input_, output_, errors_;
  std::string read_;
};

expected<void> product_process::start(const slot& s) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0)
    return fail(error_kind::io, std::string("no pipe: ") + std::strerror(errno));
  const unique_fd its_input(to[0]);
  input_.reset(to[1]);
  if (::pipe2(from, O_CLOEXEC) != 0)
    return fail(error_kind::io, std::string("no pipe: ") + std::strerror(errno));
  output_.reset(from[0]);
  const unique_fd its_output(from[1]);
  errors_ = memory_file();
  return start_child(
             {.command = {own_program().string(), "doctor", "--products-of", s.device},
              .environment = s.environment,
              .cores = s.cores,
              .input = its_input.get(),
              .output = its_output.get(),
              .errors = errors_.get(),
              .dies_with_us = true})
      .map([&](pid_t id) { process_.id = id; });
}

expected<std::string> product_process::line() {
  const auto until = clock::now() + most_waiting;
  for (;;) {
    if (const auto end = read_.find('\n'); end != std::string::npos) {
      auto one = read_.substr(0, end);
      read_.erase(0, end + 1);
      return one;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    pollfd ready{output_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
      return fail(error_kind::io, "it says nothing for two minutes");
    char some[4096];
    const auto got = ::read(output_.get(), some, sizeof some);
    if (got > 0)
      read_.append(some, static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return fail(error_kind::io, "its process ended" + last_words());
  }
}

expected<void> product_process::go() {
  if (const int failed = write_all(input_.get(), "g"); failed != 0)
    return fail(error_kind::io, "its process ended" + last_words());
  return {};
}

std::string product_process::last_words() {
  char some[512];
  const auto got = ::pread(errors_.get(), some, sizeof some, 0);
  const std::string_view all(some, got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto first = all.substr(0, all.find('\n'));
  return first.empty() ? "" : ": " + std::string(first);
}

void product_process::end() {
  if (process_.id == 0)
    return;
  ::kill(process_.id, SIGKILL);
  while (::waitpid(process_.id, nullptr, 0) < 0 && errno == EINTR) {
  }
}

finding report_of(const slot& s, const expected<device_report>& r) {
  const std::string about = "slot " + s.name;
  const auto failure = r ? r->failure : r.error().message;
  if (!failure.empty())
    return {about, health::broken, failure,
            "nothing trains there: leave it out with --slots, or mend it"};
  char rate[64];
  std::snprintf(rate, sizeof rate, "%.1f GFLOP/s", r->per_second / 1e9);
  return {about, health::good, "LibTorch multiplies, " + std::string(rate)};
}

/// Seconds that these take at once.
expected<double> time_of(std::initializer_list<product_process*> processes) {
  const auto start = clock::now();
  for (auto* p : processes)
    if (auto gone = p->go(); !gone)
      return tl::unexpected(gone.error());
  for (auto* p : processes)
    if (auto done = p->line(); !done)
      return tl::unexpected(done.error());
  return seconds_since(start);
}

finding check_parallel(product_process& first, product_process& second,
                       const std::string& which) {
  parallel_times times;
  for (auto* alone : {&first, &second}) {
    const auto taken = time_of({alone});
    if (!taken)
      return {"parallel", health::broken, taken.error().message, "try again"};
    times.in_turns += *taken;
  }
  const auto both = time_of({&first, &second});
  if (!both)
    return {"parallel", health::broken, both.error().message, "try again"};
  times.at_once = *both;
  return judge(times, which);
}

/// "13.0" is 13; 0 where there is none.
int major_of(const std::string& version) {
  return std::atoi(version.c_str());
}

} // namespace

std::string to_json(const device_report& r) {
  return json{{"torch", r.torch},
              {"cuda", r.cuda},
              {"per_second", r.per_second},
              {"failure", r.failure}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

expected<device_report> parse_device_report(std::string_view text) {
  const auto read = json::parse(text, nullptr, false);
  if (!read.is_object() || !read.contains("torch") || !read["torch"].is_string()
      || !read.contains("cuda") || !read["cuda"].is_string()
      || !read.contains("per_second") || !read["per_second"].is_number()
      || !read.contains("failure") || !read["failure"].is_string())
    return fail(error_kind::invalid_input,
                "its process says what is no report: " + std::string(text.substr(0, 80)));
  return device_report{.torch = read["torch"],
                       .cuda = read["cuda"],
                       .per_second = read["per_second"],
                       .failure = read["failure"]};
}

int serve_products(const std::string& device, const std::filesystem::path& module) {
  unsigned times = 0;
  const auto loaded = load_device_work(module, device);
  auto report = loaded.and_then([&](const auto& l) { return measured(l, times); });
  if (!report)
    report = device_report{.torch = loaded ? loaded->build.version : "",
                           .cuda = loaded ? loaded->build.cuda : "",
                           .failure = report.error().message};
  std::cout << to_json(*report) << std::endl;
  char one = 0;
  while (report->failure.empty() && std::cin.get(one)) {
    if (const auto done = loaded->work->multiply(times); !done)
      return 1;
    std::cout << "done" << std::endl;
  }
  return 0;
}

finding judge(const parallel_times& t, const std::string& which) {
  char found[160];
  std::snprintf(found, sizeof found, "%s: %s at once, %s one after the other (%.2f)",
                which.c_str(), duration_text(t.at_once).c_str(),
                duration_text(t.in_turns).c_str(), t.at_once / t.in_turns);
  if (t.at_once < parallel_share * t.in_turns)
    return {"parallel", health::good, found};
  return {
      "parallel", health::poor, found,
      "slots hinder each other: other programs take the cores (see top), two cores are "
      "one with two threads (lscpu -e), or a control group gives less time than cores; "
      "fewer --slots may be as fast"};
}

std::optional<finding> judge_driver(const device_report& r, std::size_t gpus,
                                    const std::string& driver) {
  if (gpus == 0)
    return std::nullopt;
  finding f{.about = "CUDA",
            .found = fmt::format(
                "LibTorch is built for {}{}",
                r.cuda.empty() ? std::string("the CPU alone") : "CUDA " + r.cuda,
                driver.empty() ? ", the driver does not say what it supports"
                               : ", the driver supports CUDA " + driver)};
  if (r.cuda.empty()) {
    f.is = health::poor;
    f.advice = "the GPUs stay idle: build with a LibTorch for CUDA (README, GPUs)";
  } else if (!driver.empty() && major_of(driver) < major_of(r.cuda)) {
    f.is = health::broken;
    f.advice = fmt::format("a driver runs programs of its own major version of CUDA and "
                           "of earlier ones: update it, or take a LibTorch for CUDA {}",
                           major_of(driver));
  }
  return f;
}

std::vector<finding> check_devices(const std::vector<slot>& slots) {
  std::vector<finding> all, of_slots;
  std::optional<device_report> heard;
  std::vector<std::pair<const slot*, product_process>> at_work;
  std::size_t gpus = 0;
  // One after the other, so that each is measured alone.
  for (const auto& s : slots) {
    product_process process;
    const auto report = process.start(s)
                            .and_then([&] { return process.line(); })
                            .and_then(parse_device_report);
    gpus += s.device == "cpu" ? 0 : 1;
    if (report && !heard)
      heard = *report;
    of_slots.push_back(report_of(s, report));
    if (report && report->failure.empty() && at_work.size() < 2)
      at_work.emplace_back(&s, std::move(process));
  }
  if (heard && !heard->torch.empty())
    all.push_back(
        {"LibTorch", health::good,
         heard->torch
             + (heard->cuda.empty() ? ", for the CPU" : ", for CUDA " + heard->cuda)});
  if (heard) {
    const auto driver = gpus > 0 ? read_driver_cuda() : std::string();
    if (auto f = judge_driver(*heard, gpus, driver.value_or("")))
      all.push_back(std::move(*f));
  }
  all.insert(all.end(), of_slots.begin(), of_slots.end());
  if (at_work.size() == 2)
    all.push_back(check_parallel(
        at_work[0].second, at_work[1].second,
        fmt::format("{}, {}", at_work[0].first->name, at_work[1].first->name)));
  return all;
}

} // namespace clade
