#include "tools/jobs/jobs_options.hpp"

#include "engine/config/file/table_reader.hpp"
#include "engine/config/file/units.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

constexpr std::uint64_t most_file = 1 << 20;

void read_number(table_reader& t, const char* key, std::optional<std::uint32_t>& out) {
  std::uint32_t number = 0;
  t.read(key, number);
  if (t.has(key) && !out)
    out = number;
}

void read_list(table_reader& t, const char* key, std::vector<std::string>& out) {
  std::vector<std::string> list;
  t.read_list(key, list);
  if (out.empty())
    out = std::move(list);
}

void read_text(table_reader& t, const char* key, std::string& out) {
  std::string text;
  t.read(key, text);
  if (out.empty())
    out = std::move(text);
}

void read_flag(table_reader& t, const char* key, bool& out) {
  bool flag = false;
  t.read(key, flag);
  out = out || flag;
}

/// How many at once. Who says it on the command line is not held to what the file says.
void read_workers(table_reader& t, jobs_options& options) {
  jobs_options file;
  t.read("parallel", file.parallel);
  t.read("sequential", file.sequential);
  t.read("slots", file.slots);
  read_number(t, "max_workers", file.max_workers);
  if (file.sequential && (file.parallel || file.max_workers || !file.slots.empty()))
    t.fail("sequential", "parallel, max_workers and slots say how many run at once too: "
                         "leave this or those out");
  if (options.parallel || options.sequential || options.max_workers
      || !options.slots.empty())
    return;
  options.sequential = file.sequential;
  options.max_workers = file.max_workers;
  options.slots = file.slots;
}

void read_folder(table_reader& t, const char* key, const std::filesystem::path& from,
                 std::string& out) {
  std::filesystem::path folder;
  t.read_path(key, folder, from);
  if (out.empty())
    out = folder.string();
}

} // namespace

expected<void> read_jobs_file(const std::filesystem::path& file, jobs_options& options) {
  const auto text = read_whole_file(file, {.most_bytes = most_file});
  if (!text)
    return tl::unexpected(text.error());
  auto d = parse_document(*text, file.string());
  if (!d)
    return tl::unexpected(std::move(d).error());
  std::error_code failed;
  const auto from = std::filesystem::absolute(file, failed).parent_path();
  table_reader t(*d);
  std::vector<std::string> folders{"."};
  t.read_list("folders", folders);
  if (options.folders.empty())
    for (const auto& f : folders)
      options.folders.push_back((from / f).lexically_normal().string());
  read_list(t, "include_pattern", options.include_pattern);
  read_list(t, "only", options.only);
  read_list(t, "exclude", options.exclude);
  read_list(t, "extra_arg", options.extra_arg);
  read_workers(t, options);
  read_flag(t, "oversubscribe", options.oversubscribe);
  read_number(t, "epochs", options.epochs);
  read_number(t, "folds", options.folds);
  read_number(t, "batch", options.batch);
  read_number(t, "retries", options.retries);
  read_text(t, "timeout", options.timeout);
  read_text(t, "memory", options.memory);
  read_folder(t, "directory", from, options.directory);
  read_folder(t, "output", from, options.output);
  if (options.directory.empty())
    options.directory = from.string();
  t.finish();
  if (d->wrong)
    return tl::unexpected(*d->wrong);
  return {};
}

expected<job_limits> limits_of(const jobs_options& options) {
  const auto named = [](const char* option, const std::string& text) {
    return [option, text](const error& e) {
      return error{e.kind, fmt::format("{} \"{}\": {}", option, text, e.message)};
    };
  };
  job_limits limits;
  if (!options.timeout.empty()) {
    const auto time =
        parse_duration(options.timeout).map_error(named("--timeout", options.timeout));
    if (!time)
      return tl::unexpected(time.error());
    limits.timeout = *time;
  }
  if (!options.memory.empty()) {
    const auto size =
        parse_size(options.memory).map_error(named("--memory", options.memory));
    if (!size)
      return tl::unexpected(size.error());
    limits.memory_bytes = *size;
  }
  return limits;
}

} // namespace clade
