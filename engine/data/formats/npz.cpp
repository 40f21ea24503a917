// npz     := zip archive of members `array`.npy, stored or deflated, of any size (zip64)
//
// libzip reads the directory at the archive's end and checks each member's CRC when its
// end is reached. NumPy writes no other compression than deflate, which unzips to at most
// 1,032 times as much as there was; others, which libzip may know, are refused, so that
// the work is bounded by the file.

#include "engine/data/formats/npz.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace clade {
namespace {

constexpr std::string_view suffix = ".npy";
constexpr std::uint64_t most_inflated = 1032;

struct discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using open_archive = std::unique_ptr<zip_t, discard>;
using open_member = std::unique_ptr<zip_file_t, discard>;

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

expected<open_archive> open(std::string_view bytes) {
  zip_error_t why;
  zip_error_init(&why);
  zip_t* archive = nullptr;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &why);
  if (source != nullptr) {
    archive = zip_open_from_source(source, ZIP_RDONLY, &why);
    if (archive == nullptr)
      zip_source_free(source);
  }
  const std::string reason = archive == nullptr ? zip_error_strerror(&why) : "";
  zip_error_fini(&why);
  if (archive == nullptr)
    return wrong(fmt::format(
        "no .npz archive that ends where it must ({}); if it was cut off, fetch it again",
        reason));
  return open_archive(archive);
}

/// The members that are arrays, and all others.
struct archive_names {
  std::vector<std::string> arrays, others;
};

archive_names names_of(zip_t* archive) {
  archive_names names;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    if (name != nullptr && std::string_view(name).ends_with(suffix))
      names.arrays.emplace_back(name, std::string_view(name).size() - suffix.size());
    else if (name != nullptr && !std::string_view(name).ends_with('/'))
      names.others.emplace_back(name);
  }
  return names;
}

tl::unexpected<error> no_array(const std::vector<std::string>& others) {
  if (std::ranges::any_of(others, [](const auto& n) { return n.ends_with(".pkl"); }))
    return wrong("is a file of PyTorch, a pickle, which is a program that is never run "
                 "here; save arrays with numpy.savez(\"data.npz\", x=..., y=...)");
  if (others.empty())
    return wrong("the archive holds no array (.npy); unpack it if it holds other data");
  return wrong(fmt::format(
      "is a zip archive that holds no array (.npy), but {}; unzip it, and name {}",
      all_in_quotes(others), others.size() == 1 ? "that file" : "a file of it"));
}

// Which of them is meant.
expected<std::string> choose(const archive_names& all, std::string wanted,
                             std::string_view key) {
  const auto& names = all.arrays;
  if (names.empty())
    return no_array(all.others);
  if (wanted.empty() && names.size() == 1)
    return names.front();
  if (wanted.empty())
    return wrong(fmt::format("say which array is meant, {} = {}; there are {}", key,
                             in_quotes(names.front()), all_in_quotes(names)));
  if (wanted.ends_with(suffix))
    wanted.resize(wanted.size() - suffix.size());
  if (std::find(names.begin(), names.end(), wanted) != names.end())
    return wanted;
  const std::string near = nearest(wanted, names);
  return wrong(fmt::format("no array is {}, the {}; {}", in_quotes(wanted), key,
                           near.empty()
                               ? "there are " + all_in_quotes(names)
                               : fmt::format("did you mean {}?", in_quotes(near))));
}

expected<std::string> unzip(zip_t* archive, const std::string& name, std::size_t zipped) {
  constexpr std::size_t chunk = 1 << 20;
  const auto damaged = [](const char* why) {
    return wrong(fmt::format("the zip data is damaged ({}); fetch the file again", why));
  };
  zip_stat_t is;
  zip_stat_init(&is);
  if (zip_stat(archive, name.c_str(), 0, &is) != 0)
    return damaged(zip_strerror(archive));
  if ((is.valid & ZIP_STAT_COMP_METHOD) == 0
      || (is.comp_method != ZIP_CM_STORE && is.comp_method != ZIP_CM_DEFLATE))
    return wrong("zipped in a way that is not read; save it with numpy.savez_compressed");
  const open_member member(zip_fopen(archive, name.c_str(), 0));
  if (!member)
    return damaged(zip_strerror(archive));
  std::string out;
  if ((is.valid & ZIP_STAT_SIZE) != 0 && is.size / most_inflated <= zipped
      && is.size <= max_unzipped_bytes)
    out.reserve(is.size + chunk);
  for (std::size_t used = 0;;) {
    out.resize(used + chunk);
    const zip_int64_t n = zip_fread(member.get(), out.data() + used, chunk);
    if (n < 0)
      return damaged(zip_file_strerror(member.get()));
    used += static_cast<std::size_t>(n);
    if (used > max_unzipped_bytes)
      return wrong("unzips to more than 16 GiB");
    if (n == 0) {
      out.resize(used);
      return out;
    }
  }
}

} // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04");
}

expected<std::vector<std::string>> arrays_of(std::string_view archive) {
  const auto opened = open(archive);
  if (!opened)
    return tl::unexpected(opened.error());
  auto names = names_of(opened->get());
  if (names.arrays.empty())
    return no_array(names.others);
  return std::move(names.arrays);
}

expected<npz_member> read_npz(std::string_view archive, const std::string& array,
                              std::string_view key) {
  const auto opened = open(archive);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto chosen = choose(names_of(opened->get()), array, key);
  if (!chosen)
    return tl::unexpected(chosen.error());
  npz_member member{.name = *chosen + std::string(suffix), .bytes = {}};
  auto bytes = unzip(opened->get(), member.name, archive.size());
  if (!bytes)
    return fail_in(printable(member.name), std::move(bytes).error());
  member.bytes = std::move(*bytes);
  return member;
}

} // namespace clade
