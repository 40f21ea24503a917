#include "tools/run_files.hpp"

#include "engine/report/format.hpp"

#include <nlohmann/json.hpp>

#include <ctime>

namespace clade {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::ordered_json;

constexpr auto interval = 1s;
constexpr const char* file_name = "slots.json";
constexpr const char* address_name = "address";

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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
                            {"quarantined_ms", s.quarantined.count()}});
  out["failures"] = json::array();
  for (const auto& f : view.failures)
    out["failures"].push_back({{"slot", f.slot}, {"count", f.count}, {"last", f.last}});
  return out;
}

slots_snapshot from_json(const json& in) {
  const auto ms = [](const json& v) {
    return std::chrono::milliseconds(v.get<std::int64_t>());
  };
  slots_snapshot out{
      .slots = {},
      .age = std::chrono::milliseconds(unix_ms() - in.at("unix_ms").get<std::int64_t>())};
  out.slots.waiting = in.at("waiting");
  for (const auto& s : in.at("slots"))
    out.slots.slots.push_back({.name = s.at("slot"),
                               .label = s.at("device"),
                               .ready = s.at("ready"),
                               .away = s.at("away"),
                               .training = s.at("training"),
                               .epoch = s.at("epoch"),
                               .epochs = s.at("epochs"),
                               .joined = ms(s.at("joined_ms")),
                               .heard = ms(s.at("heard_ms")),
                               .at_work = ms(s.at("at_work_ms")),
                               .quarantined = ms(s.at("quarantined_ms"))});
  for (const auto& f : in.at("failures"))
    out.slots.failures.push_back(
        {.slot = f.at("slot"), .count = f.at("count"), .last = f.at("last")});
  return out;
}

} // namespace

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

run_log::run_log(const std::filesystem::path& file) : out_(file, std::ios::app) {}

void run_log::write(const std::string& line) {
  std::lock_guard lock(mutex_);
  out_ << time_text(unix_ms()) << "  " << line << std::endl;
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

expected<slots_snapshot> read_slots(const std::filesystem::path& folder) {
  std::ifstream in(folder / file_name);
  if (!in)
    return fail(error_kind::not_found,
                folder.string() + ": no session is live; clade resume starts one");
  try {
    return from_json(json::parse(in));
  } catch (const json::exception& e) {
    return fail(error_kind::corrupt,
                (folder / file_name).string() + ": " + std::string(e.what()));
  }
}

} // namespace clade
