// npz     := zip archive of members `array`.npy, stored or deflated, of any size (zip64)

#include "engine/data/formats/npz.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/named_choice.hpp"
#include "engine/data/bytes/zip_archive.hpp"
#include "engine/data/formats/file_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace clade {
namespace {

constexpr std::string_view suffix = ".npy";
constexpr zip_words words{.kind = ".npz archive",
                          .way = "save it with numpy.savez_compressed"};
tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// The members that are arrays, and all others.
struct archive_names {
  std::vector<std::string> arrays, others;
};

archive_names names_of(const zip_archive& archive) {
  archive_names names;
  for (std::string& name : archive.names())
    if (name.ends_with(suffix))
      names.arrays.push_back(name.substr(0, name.size() - suffix.size()));
    else if (!name.ends_with('/'))
      names.others.push_back(std::move(name));
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
  if (wanted.ends_with(suffix))
    wanted.resize(wanted.size() - suffix.size());
  return choose_one(names, wanted, {"array", key});
}

} // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04");
}

expected<std::vector<std::string>> arrays_of(std::string_view archive) {
  const auto opened = zip_archive::open(archive, words);
  if (!opened)
    return tl::unexpected(opened.error());
  auto names = names_of(*opened);
  if (names.arrays.empty())
    return no_array(names.others);
  return std::move(names.arrays);
}

expected<npz_member> read_npz(std::string_view archive, const std::string& array,
                              std::string_view key) {
  const auto opened = zip_archive::open(archive, words);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto chosen = choose(names_of(*opened), array, key);
  if (!chosen)
    return tl::unexpected(chosen.error());
  npz_member member{.name = *chosen + std::string(suffix), .bytes = {}};
  auto bytes = opened->read(member.name, max_unzipped_bytes);
  if (!bytes)
    return fail_in(printable(member.name), std::move(bytes).error());
  member.bytes = std::move(*bytes);
  return member;
}

} // namespace clade
