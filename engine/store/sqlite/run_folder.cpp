#include "engine/store/sqlite/run_folder.hpp"

#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>
#include <tuple>

namespace clade {

namespace {

/// Returns the place at which the stamp begins in "digits-20260131-140500" or, for the
/// second run of that second, "digits-20260131-140500-2".
std::optional<std::size_t> find_stamp(const std::string& folder) {
  // No file system has a longer name, and a regular expression is matched by recursion.
  constexpr std::size_t longest_name = 255;
  if (folder.size() > longest_name)
    return std::nullopt;
  static const std::regex stamped("-([0-9]{8}-[0-9]{6}(-[0-9]+)?)$");
  std::smatch found;
  if (!std::regex_search(folder, found, stamped) || found.position(0) == 0)
    return std::nullopt;
  return found.position(1);
}

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  std::size_t count = 0;
  // The latest runs have the greatest names.
  for (auto i = names.rbegin(); i != names.rend() && count < most; ++i, ++count)
    text += (text.empty() ? "" : ", ") + *i;
  return text + (names.size() > most ? ", ..." : "");
}

/// The name of a run, or else of a folder, that was probably meant; "" if none is near.
std::string nearest_run(const std::string& asked, const std::vector<run_folder>& runs) {
  std::vector<std::string> names, folders;
  for (const auto& run : runs) {
    names.push_back(run.name);
    folders.push_back(run.path.filename().string());
  }
  const auto name = nearest(asked, names);
  return name.empty() ? nearest(asked, folders) : name;
}

} // namespace

run_folder parse_run_folder(const std::filesystem::path& path) {
  const auto folder = path.filename().string();
  if (const auto stamp = find_stamp(folder))
    return {.path = path,
            .name = folder.substr(0, *stamp - 1),
            .stamp = folder.substr(*stamp)};
  return {.path = path, .name = folder, .stamp = ""};
}

std::filesystem::path runs_folder() {
  const char* folder = std::getenv("CLADE_RUNS");
  return folder != nullptr && *folder != '\0' ? folder : "runs";
}

expected<std::vector<run_folder>> list_run_folders(const std::filesystem::path& folder) {
  std::vector<run_folder> found;
  std::error_code failed;
  if (!std::filesystem::exists(folder, failed) && !failed)
    return found;
  for (std::filesystem::directory_iterator i(folder, failed), end; !failed && i != end;
       i.increment(failed)) {
    std::error_code unreadable;
    auto run = parse_run_folder(i->path());
    if (std::filesystem::exists(run.store_file(), unreadable)) {
      found.push_back(std::move(run));
    } else if (unreadable == std::errc::permission_denied && !run.stamp.empty()) {
      run.readable = false;
      found.push_back(std::move(run));
    }
  }
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be read: {}", folder.string(), failed.message()));
  std::sort(found.begin(), found.end(), [](const run_folder& a, const run_folder& b) {
    return std::tie(a.stamp, a.name) > std::tie(b.stamp, b.name);
  });
  return found;
}

namespace {

/// Why nothing is found that there may be all the same.
std::optional<error> closed_to_us(const std::filesystem::path& path,
                                  const std::string& asked,
                                  const std::vector<run_folder>& runs) {
  const auto closed = [](const std::filesystem::path& run) {
    return error{error_kind::io,
                 run.string() + ": permission denied; the run may be of another user"};
  };
  std::error_code failed;
  if (!std::filesystem::exists(path / store_file_name, failed)
      && failed == std::errc::permission_denied)
    return closed(path);
  for (const auto& run : runs)
    if (!run.readable && !asked.empty()
        && run.path.filename().string().starts_with(asked))
      return closed(run.path);
  return std::nullopt;
}

} // namespace

expected<std::filesystem::path> find_run(std::string_view text,
                                         const std::filesystem::path& folder) {
  const std::filesystem::path path(text);
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)
      && std::filesystem::exists(path / store_file_name, failed))
    return path;
  if (path.filename() == store_file_name
      && std::filesystem::is_regular_file(path, failed))
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const auto runs = list_run_folders(folder);
  if (!runs)
    return tl::unexpected(runs.error());
  const auto asked = path.has_filename() ? path.string() : path.parent_path().string();
  std::set<std::string> names, folders;
  std::optional<std::filesystem::path> latest_named, latest_begun, only;
  // The latest come first.
  for (const auto& run : *runs) {
    if (!run.readable)
      continue;
    const auto name = run.path.filename().string();
    if (name == asked)
      return run.path;
    if (run.name == asked && !latest_named)
      latest_named = run.path;
    if (!asked.empty() && run.name.starts_with(asked) && names.insert(run.name).second
        && names.size() == 1)
      latest_begun = run.path;
    if (!asked.empty() && name.starts_with(asked) && folders.insert(name).second)
      only = run.path;
  }
  if (latest_named)
    return *latest_named;
  if (names.size() == 1)
    return *latest_begun;
  if (folders.size() == 1)
    return *only;
  if (folders.size() > 1)
    return fail(
        error_kind::invalid_input,
        fmt::format("\"{}\" may mean several runs in {}: {}; write more of the name",
                    text, folder.string(), listed(folders)));
  if (auto closed = closed_to_us(path, asked, *runs))
    return tl::unexpected(std::move(*closed));
  const auto near = nearest_run(asked, *runs);
  return fail(error_kind::not_found,
              fmt::format("no run \"{}\" in {}{}", text, folder.string(),
                          near.empty() ? "; \"clade list\" lists the runs"
                                       : fmt::format("; did you mean \"{}\"?", near)));
}

expected<std::filesystem::path> find_store(std::string_view text,
                                           const std::filesystem::path& folder) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(text, failed))
    return std::filesystem::path(text);
  return find_run(text, folder).map([](const std::filesystem::path& run) {
    return run / store_file_name;
  });
}

std::filesystem::path upgraded_store(const std::filesystem::path& file) {
  if (file.filename() != store_file_name || !file.has_parent_path())
    return file.parent_path()
           / (fmt::format("{}-upgraded{}", file.stem().string(),
                          file.extension().string()));
  const auto run = parse_run_folder(file.parent_path());
  return run.path.parent_path()
         / (fmt::format("{}-upgraded{}", run.name,
                        run.stamp.empty() ? "" : "-" + run.stamp))
         / store_file_name;
}

std::string command_for(const std::string& command, const std::filesystem::path& file) {
  const auto run = file.filename() == store_file_name && file.has_parent_path()
                       ? file.parent_path()
                       : file;
  return fmt::format("clade {} {}", command, run.string());
}

std::string check_command(const std::filesystem::path& file) {
  return command_for("check", file);
}

} // namespace clade
