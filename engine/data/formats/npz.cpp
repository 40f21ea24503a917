// npz     := zip archive of members `array`.npy, stored or deflated, of any size (zip64)

#include "engine/data/formats/npz.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/named_choice.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/formats/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace clade {
namespace {

constexpr std::string_view suffix = ".npy";
constexpr zip_words words{.kind = ".npz archive",
                          .way = "save it with numpy.savez_compressed"};

constexpr std::size_t piece_bytes = 1 << 20;

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

expected<npz_array> npz_array::open(std::string_view archive, const std::string& array,
                                    std::string_view key) {
  auto opened = zip_archive::open(archive, words);
  if (!opened)
    return tl::unexpected(std::move(opened).error());
  const auto chosen = choose(names_of(*opened), array, key);
  if (!chosen)
    return tl::unexpected(chosen.error());
  npz_array out;
  out.name_ = *chosen + std::string(suffix);
  out.archive_ = std::move(*opened);
  auto member = out.archive_.open_member(out.name_);
  if (!member)
    return fail_in(printable(out.name_), std::move(member).error());
  out.member_ = std::move(*member);
  out.front_.resize(std::min<std::uint64_t>(out.size(), array_front_bytes));
  if (auto read = out.read(0, out.front_); !read)
    return tl::unexpected(std::move(read).error());
  return out;
}

expected<void> npz_array::skip_to(std::uint64_t from) {
  if (from < at_) {
    auto anew = archive_.open_member(name_);
    if (!anew)
      return tl::unexpected(std::move(anew).error());
    member_ = std::move(*anew);
    at_ = 0;
  }
  std::string skipped;
  while (at_ < from) {
    skipped.resize(std::min<std::uint64_t>(from - at_, array_front_bytes));
    const auto n = member_.read(skipped);
    if (!n)
      return tl::unexpected(n.error());
    if (*n < skipped.size())
      return wrong("ends too early; fetch the file again");
    at_ += *n;
  }
  return {};
}

expected<void> npz_array::read(std::uint64_t from, std::span<char> into) {
  const auto all = [&]() -> expected<void> {
    if (auto there = skip_to(from); !there)
      return there;
    const auto n = member_.read(into);
    if (!n)
      return tl::unexpected(n.error());
    at_ += *n;
    if (*n < into.size())
      return wrong("ends too early; fetch the file again");
    // Its checksum is looked at where nothing more comes.
    char more = 0;
    if (const auto end = at_ == size() ? member_.read({&more, 1}) : n; !end)
      return tl::unexpected(end.error());
    return {};
  }();
  if (!all)
    return fail_in(printable(name_), all.error());
  return {};
}

expected<npz_member> read_npz(npz_array array) {
  const auto most = data_limits(true).most_bytes;
  if (array.size() > most)
    return fail_in(printable(array.name()),
                   {error_kind::invalid_input,
                    fmt::format("unzips to {}, where at most {} "
                                "are read",
                                binary_size(array.size()), binary_size(most))});
  npz_member member{.name = array.name(), .bytes = {}};
  member.bytes.reserve(array.size());
  std::string piece;
  while (member.bytes.size() < array.size()) {
    piece.resize(
        std::min<std::uint64_t>(array.size() - member.bytes.size(), piece_bytes));
    if (auto read = array.read(member.bytes.size(), piece); !read)
      return tl::unexpected(std::move(read).error());
    member.bytes += piece;
  }
  return member;
}

expected<npz_member> read_npz(std::string_view archive, const std::string& array,
                              std::string_view key) {
  return npz_array::open(archive, array, key).and_then([](npz_array&& opened) {
    return read_npz(std::move(opened));
  });
}

} // namespace clade
