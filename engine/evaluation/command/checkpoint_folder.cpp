// A packed folder is msgpack: [1, [[path, kind, content]...]], where a path is relative to
// the folder with "/" between its parts, in alphabetical order, so that a folder comes
// before what is in it. Kinds: 0 a folder, 1 a file, 2 a file that may be run.

#include "engine/evaluation/command/checkpoint_folder.hpp"

#include "genome/base/utf8.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t folder_format = 1;

enum class entry_kind : std::uint64_t { folder = 0, file = 1, program = 2 };

struct packed_entry {
  std::string path;
  entry_kind kind = entry_kind::file;
};

struct folder_entries {
  std::vector<packed_entry> all;
  std::uint64_t bytes = 0;
};

tl::unexpected<error> refused(std::string why) {
  return fail(error_kind::invalid_input, std::move(why));
}

expected<packed_entry> entry_of(const fs::directory_entry& found,
                                const fs::path& folder) {
  std::error_code failed;
  const auto path = found.path().lexically_relative(folder).generic_string();
  const auto status = found.symlink_status(failed);
  if (failed)
    return refused(fmt::format("{}: {}", path, failed.message()));
  if (!is_plain_text(path))
    return refused(clipped(plain_text(path)) + " is no name in UTF-8");
  if (fs::is_directory(status))
    return packed_entry{path, entry_kind::folder};
  if (!fs::is_regular_file(status))
    return refused(clipped(path) + " is neither a file nor a folder");
  const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return packed_entry{path, runs ? entry_kind::program : entry_kind::file};
}

expected<folder_entries> list_folder(const fs::path& folder,
                                     const folder_limits& limits) {
  folder_entries found;
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    auto entry = entry_of(*at, folder);
    if (!entry)
      return tl::unexpected(entry.error());
    if (entry->kind != entry_kind::folder)
      found.bytes += at->file_size(failed);
    if (failed)
      break;
    found.all.push_back(std::move(*entry));
    if (found.bytes > limits.most_bytes)
      return refused("it has more than " + binary_size(limits.most_bytes));
    if (found.all.size() > limits.most_files)
      return refused(fmt::format("it has more than {} files", limits.most_files));
  }
  if (failed)
    return fail(error_kind::io, fmt::format("{}: {}", folder.string(), failed.message()));
  std::ranges::sort(found.all, {}, &packed_entry::path);
  return found;
}

/// Whether every part of a relative path leads further down.
bool leads_down(const fs::path& path) {
  return !path.empty() && path.is_relative()
         && std::ranges::none_of(path, [](const fs::path& part) {
              return part.empty() || part == "." || part == "..";
            });
}

expected<void> write_entry(const fs::path& target, entry_kind what,
                           const bytes& content) {
  std::error_code failed;
  if (what == entry_kind::folder) {
    fs::create_directory(target, failed);
    return failed ? fail(error_kind::io,
                         fmt::format("{}: {}", target.string(), failed.message()))
                  : expected<void>{};
  }
  std::ofstream out(target, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out)
    return fail(error_kind::io, target.string() + " cannot be written");
  if (what == entry_kind::program)
    fs::permissions(target, fs::perms::owner_exec, fs::perm_options::add, failed);
  return failed ? fail(error_kind::io,
                       fmt::format("{}: {}", target.string(), failed.message()))
                : expected<void>{};
}

} // namespace

expected<blob> pack_folder(const fs::path& folder, const folder_limits& limits) {
  const auto found = list_folder(folder, limits);
  if (!found)
    return tl::unexpected(found.error());
  encoder out;
  out.array(2).natural(folder_format).array(found->all.size());
  for (const auto& entry : found->all) {
    bytes content;
    if (entry.kind != entry_kind::folder) {
      auto read = read_whole_file(folder / entry.path, {.most_bytes = limits.most_bytes});
      if (!read)
        return tl::unexpected(read.error());
      content = std::move(*read);
    }
    out.array(3)
        .text(entry.path)
        .natural(static_cast<std::uint64_t>(entry.kind))
        .binary(content);
  }
  return blob(out.take());
}

expected<void> unpack_folder(const blob& packed, const fs::path& folder) {
  const auto content = packed.load();
  if (!content)
    return tl::unexpected(content.error());
  decoder in(**content);
  in.array(2);
  if (in.natural() != folder_format)
    in.fail("a checkpoint folder of an unknown format");
  const auto count = in.array();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    in.array(3);
    const fs::path path(in.text());
    const auto what = in.natural();
    const auto data = in.binary();
    if (!in.failed() && (!leads_down(path) || what > 2))
      in.fail("a checkpoint folder with the path " + clipped(plain_text(path.string())));
    if (in.failed())
      break;
    if (auto written = write_entry(folder / path, static_cast<entry_kind>(what), data);
        !written)
      return written;
  }
  return in.finish();
}

} // namespace clade
