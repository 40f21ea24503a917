#include "tools/run/run_files.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/wall_clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>

namespace clade {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::ordered_json;

constexpr auto interval = 1s;
constexpr auto longest_without_slots = 20s;
constexpr const char* file_name = "slots.json";
constexpr const char* address_name = "address";

json to_json(const slots_view& view) {
  json out{{"unix_ms", unix_ms()}, {"waiting", view.waiting}};
  out["slots"] = json::array();
  for (const auto& s : view.slots)
    out["slots"].push_back({{"slot", s.name},
                            {"device", s.label},
                            {"ready", s.ready},
                            {"away", s.away},
                            {"training", s.training},
                            {"epoch", s.epoch},
                            {"epochs", s.epochs},
                            {"joined_ms", s.joined.count()},
                            {"heard_ms", s.heard.count()},
                            {"at_work_ms", s.at_work.count()},
                            {"quarantined_ms", s.quarantined.count()},
                            {"clock_ahead_ms", s.clock_ahead.count()},
                            {"team",
                             {{"member", s.team.member},
                              {"members", s.team.members},
                              {"steps_per_second", s.team.steps},
                              {"bytes_per_second", s.team.bytes},
                              {"waits", s.team.waits},
                              {"awaited", s.team.awaited}}}});
  out["failures"] = json::array();
  for (const auto& f : view.failures)
    out["failures"].push_back({{"slot", f.slot}, {"count", f.count}, {"last", f.last}});
  return out;
}

team_share team_from(const json& in) {
  return {.member = in.at("member"),
          .members = in.at("members"),
          .steps = in.at("steps_per_second"),
          .bytes = in.at("bytes_per_second"),
          .waits = in.at("waits"),
          .awaited = in.at("awaited")};
}

slots_view from_json(const json& in) {
  const auto ms = [](const json& v) {
    return std::chrono::milliseconds(v.get<std::int64_t>());
  };
  slots_view out{.slots = {}, .failures = {}, .waiting = in.at("waiting")};
  for (const auto& s : in.at("slots"))
    out.slots.push_back({.name = s.at("slot"),
                         .label = s.at("device"),
                         .ready = s.at("ready"),
                         .away = s.at("away"),
                         .training = s.at("training"),
                         .epoch = s.at("epoch"),
                         .epochs = s.at("epochs"),
                         .joined = ms(s.at("joined_ms")),
                         .heard = ms(s.at("heard_ms")),
                         .at_work = ms(s.at("at_work_ms")),
                         .quarantined = ms(s.at("quarantined_ms")),
                         .clock_ahead = ms(s.at("clock_ahead_ms")),
                         .team = team_from(s.at("team"))});
  for (const auto& f : in.at("failures"))
    out.failures.push_back(
        {.slot = f.at("slot"), .count = f.at("count"), .last = f.at("last")});
  return out;
}

} // namespace

expected<void> check_own_files(const std::filesystem::path& folder) {
  for (const char* name : {"run.db.lock", file_name, "slots.json.new", address_name,
                           "head.log", "worker.log", "keys", "live", "logs"}) {
    const auto own = folder / name;
    std::error_code none;
    const auto type = std::filesystem::symlink_status(own, none).type();
    if (type != std::filesystem::file_type::not_found
        && type != std::filesystem::file_type::regular
        && type != std::filesystem::file_type::directory)
      return fail(error_kind::invalid_input,
                  fmt::format("{}{}, where a run writes a file of its own; remove it",
                              own.string(),
                              type == std::filesystem::file_type::symlink ? ": a link"
                                                                          : ": no file"));
  }
  return {};
}

std::string listening_address(const std::filesystem::path& folder) {
  std::ifstream in(folder / address_name);
  std::string line;
  // Without its end it is being written.
  return std::getline(in, line) && !in.eof() ? line : "";
}

expected<void> write_address(const std::filesystem::path& folder,
                             const std::string& address) {
  const auto file = folder / address_name;
  if (!(std::ofstream(file) << address << std::endl))
    return fail(error_kind::io, "cannot write " + file.string());
  return {};
}

run_log::run_log(std::filesystem::path file, std::uintmax_t most_bytes)
    : file_(std::move(file)),
      most_bytes_(most_bytes),
      out_(file_, std::ios::app) {}

void run_log::write(const std::string& line) {
  std::lock_guard lock(mutex_);
  if (out_.tellp() >= static_cast<std::streamoff>(most_bytes_)) {
    out_.close();
    std::error_code failed;
    std::filesystem::rename(file_, file_.string() + ".1", failed);
    out_.open(file_, std::ios::app);
  }
  out_ << time_text(unix_ms()) << "  " << line << std::endl;
}

std::optional<std::string> slot_watch::look(const slots_view& slots,
                                            std::uint64_t evaluated,
                                            std::chrono::steady_clock::time_point now) {
  if (auto said = failing(slots, evaluated))
    return said;
  const bool rest = slots.waiting > 0 && !slots.held
                    && std::ranges::all_of(slots.slots, [](const slot_view& s) {
                         return s.ready && s.training == 0;
                       });
  if (!slots.slots.empty() && !rest) {
    none_since_.reset();
    told_ = false;
    return std::nullopt;
  }
  if (!none_since_)
    none_since_ = now;
  if (told_ || now - *none_since_ < longest_without_slots)
    return std::nullopt;
  told_ = true;
  const std::chrono::duration<double> time = now - *none_since_;
  return slots.slots.empty() ? nobody_joined(time) : nobody_works(slots, time);
}

std::optional<std::string> slot_watch::failing(const slots_view& slots,
                                               std::uint64_t evaluated) {
  std::uint64_t all = 0;
  for (const auto& f : slots.failures)
    all += f.count;
  if (std::exchange(evaluated_, evaluated) != evaluated) {
    failed_before_ = all;
    told_after_ = first_told;
  }
  const auto failed = all - failed_before_;
  if (failed < told_after_)
    return std::nullopt;
  told_after_ = 2 * failed;
  const auto& most = *std::ranges::max_element(slots.failures, {}, &slot_failures::count);
  return fmt::format("what slots had was lost or given back {} times since anything "
                     "ended, and is tried again; on {} at last {}",
                     failed, most.slot, most.last);
}

// Slots in quarantine are there, but are given nothing.
std::string slot_watch::nobody_works(const slots_view& slots,
                                     std::chrono::duration<double> time) const {
  std::size_t quarantined = 0, away = 0;
  std::chrono::milliseconds next = std::chrono::milliseconds::max();
  for (const auto& s : slots.slots) {
    away += s.away ? 1 : 0;
    if (s.quarantined.count() == 0)
      continue;
    ++quarantined;
    next = std::min(next, s.quarantined);
  }
  std::string said =
      fmt::format("no slot has had work for {}: ", duration_text(time.count()));
  const auto there = std::to_string(slots.slots.size());
  if (quarantined > 0) {
    said += fmt::format("{} of {} slots are in quarantine, the next is tried again in {}",
                        quarantined, there,
                        duration_text(std::chrono::duration<double>(next).count()));
    if (!slots.failures.empty()) {
      const auto& most =
          *std::ranges::max_element(slots.failures, {}, &slot_failures::count);
      said += fmt::format("; on {} failed {}", most.slot, most.last);
    }
    return said;
  }
  if (away > 0)
    said += fmt::format("{} of {} slots are not connected; ", away, there);
  if (devices_ == 0)
    return said
           + "by training.devices = \"fit\" what waits needs more slots than there are";
  return fmt::format("{}training.devices = {} needs {}{}{}, and there are {}", said,
                     devices_, devices_, devices_ == 1 ? " slot" : " slots", where_,
                     there);
}

std::string slot_watch::nobody_joined(std::chrono::duration<double> time) const {
  std::ifstream in(log_);
  std::string line, last;
  while (std::getline(in, line))
    if (!line.empty())
      last = line;
  return fmt::format("no slot has joined for {}; {}{}", duration_text(time.count()),
                     log_.string(), last.empty() ? " is empty" : " ends with: " + last);
}

slots_file::slots_file(const std::filesystem::path& folder) : path_(folder / file_name) {}

slots_file::~slots_file() {
  std::error_code gone;
  std::filesystem::remove(path_, gone);
}

void slots_file::update(const slots_view& slots) {
  const auto now = std::chrono::steady_clock::now();
  if (written_ && now - *written_ < interval)
    return;
  written_ = now;
  auto fresh = path_;
  fresh += ".new";
  std::error_code failed;
  if (std::ofstream(fresh) << to_json(slots).dump(-1, ' ', false,
                                                  json::error_handler_t::replace)
                           << std::endl)
    std::filesystem::rename(fresh, path_, failed);
}

expected<slots_view> read_slots(const std::filesystem::path& folder) {
  std::ifstream in(folder / file_name);
  if (!in)
    return fail(error_kind::not_found,
                folder.string() + ": no session is live; clade resume starts one");
  try {
    return from_json(json::parse(in));
  } catch (const json::exception& e) {
    return fail(error_kind::corrupt,
                fmt::format("{}: {}", (folder / file_name).string(), e.what()));
  }
}

} // namespace clade
