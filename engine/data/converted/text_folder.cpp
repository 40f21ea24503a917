// Files are read some hundreds at a time, on all processors, and become lines of a CSV in
// order of their paths. Line ends within a text become spaces.

#include "engine/data/converted/text_folder.hpp"

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/converted/table_text.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "genome/base/all_processors.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "genome/base/whole_file.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace clade {
namespace {

namespace fs = std::filesystem;

tl::unexpected<error> wrong(const fs::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

/// A file that was read.
struct one_text {
  std::string text; ///< UTF-8.
  genome_hash checksum;
  std::string problem; ///< Why it is no text; or empty.
  bool recoded = false, cut = false, blank = false;
};

/// Whether bytes without zeros are none of a text: one in fifty of the first is a control
/// character, or they begin as documents do that programs alone can read.
bool is_binary(std::string_view bytes) {
  constexpr std::size_t front = 64 << 10;
  constexpr std::array<std::string_view, 3> beginnings{"%PDF-", "{\\rtf", "\xff\xd8\xff"};
  if (std::ranges::any_of(beginnings, [&](auto one) { return bytes.starts_with(one); }))
    return true;
  const auto begin = bytes.substr(0, front);
  const auto controls = std::ranges::count_if(begin, [](char c) {
    return static_cast<unsigned char>(c) < ' ' && (c < '\a' || c > '\r') && c != '\x1a'
           && c != '\x1b';
  });
  return 50 * static_cast<std::size_t>(controls) > begin.size();
}

one_text read_text(const fs::path& file) {
  one_text out;
  auto bytes = read_whole_file(file, {.most_bytes = text_file_rules::most_bytes});
  if (!bytes) {
    out.problem = reason_without(file, bytes.error());
    return out;
  }
  out.checksum = hash128(*bytes);
  if (!is_utf16(*bytes) && bytes->find('\0') != bytes->npos)
    out.problem = "holds zero bytes, as no text does";
  else if (!is_utf16(*bytes) && is_binary(*bytes))
    out.problem = "is no text, but bytes for a program";
  if (!out.problem.empty())
    return out;
  auto text = to_utf8(std::move(*bytes), "auto");
  if (!text) {
    out.problem = text.error().message;
    return out;
  }
  out.recoded = text->encoding != "utf-8" || text->bad_bytes > 0;
  out.text = std::move(text->text);
  out.cut = out.text.size() > text_file_rules::longest;
  out.text.resize(utf8_cut(out.text, text_file_rules::longest));
  out.blank = out.text.find_first_not_of(" \t\r\n") == std::string::npos;
  return out;
}

/// How many files something is true of, and the first of them.
struct counted_files {
  std::size_t count = 0;
  fs::path first;

  void add(const fs::path& file) {
    if (count++ == 0)
      first = file;
  }
  /// "3 texts are empty, such as pos/1.txt"
  [[nodiscard]] std::string note(std::string_view one, std::string_view several) const {
    return fmt::format("{}, such as {}", counted(count, one, several),
                       first.generic_string());
  }
};

/// Makes a table of texts, in memory that the table and a few hundred texts take.
class text_table {
public:
  text_table(fs::path folder, std::uint64_t most_bytes)
      : folder_(std::move(folder)),
        text_(most_bytes) {}

  [[nodiscard]] expected<void> name_columns(const text_names& names, bool with_classes) {
    with_classes_ = with_classes;
    facts_.named = !names.text.empty();
    if (!facts_.named)
      return {};
    std::vector<std::string> all{names.text};
    if (with_classes)
      all.push_back(names.target);
    return text_.names(all);
  }

  /// `classes` has that of each file, or empty texts.
  [[nodiscard]] expected<void> add(const std::vector<fs::path>& files,
                                   const std::vector<std::string>& classes) {
    constexpr std::size_t at_a_time = 256;
    std::vector<one_text> read(at_a_time);
    for (std::size_t first = 0; first < files.size(); first += at_a_time) {
      const auto count = std::min(at_a_time, files.size() - first);
      on_all_processors(
          count, [&](std::size_t i) { read[i] = read_text(folder_ / files[first + i]); });
      for (std::size_t i = 0; i < count; ++i)
        if (auto added = add(files[first + i], read[i], classes[first + i]); !added)
          return fail_in(folder_.string(), std::move(added).error());
    }
    return {};
  }

  /// The table of all; an error where a file was no text.
  [[nodiscard]] expected<data_file> finish() {
    if (bad_.count > 0)
      return wrong(folder_ / bad_.first,
                   fmt::format("{}{}; remove what is no text, or give it another ending "
                               "than .txt",
                               problem_,
                               bad_.count == 1
                                   ? std::string()
                                   : fmt::format(" (and so {} of {})",
                                                 counted(bad_.count - 1, "other file is",
                                                         "other files are"),
                                                 with_commas(facts_.files.size()))));
    const auto note = [&](const counted_files& of, std::string_view one,
                          std::string_view several) {
      if (of.count > 0)
        facts_.notes.push_back(of.note(one, several));
    };
    note(blank_, "text is empty", "texts are empty");
    note(cut_, "text is longer than 1 MiB and is cut off there",
         "texts are longer than 1 MiB and are cut off there");
    note(recoded_, "text is no UTF-8 and was read as UTF-16 or Latin-1",
         "texts are no UTF-8 and were read as UTF-16 or Latin-1");
    if (torn_.count > 0)
      facts_.notes.push_back(
          torn_.note("text is of two classes at once", "texts are of two classes at once")
          + " and " + twin_);
    facts_.kind = "texts";
    facts_.texts = {true, true};
    data_file out{{.bytes = text_.take(), .checksum = checksum_.value()},
                  std::move(facts_)};
    return out;
  }

private:
  [[nodiscard]] expected<void> add(const fs::path& file, one_text& read,
                                   const std::string& label) {
    checksum_.add(file, read.checksum);
    facts_.files.push_back(file.generic_string());
    if (!read.problem.empty()) {
      if (bad_.count == 0)
        problem_ = std::move(read.problem);
      bad_.add(file);
      return {};
    }
    if (read.blank)
      blank_.add(file);
    if (read.cut)
      cut_.add(file);
    if (read.recoded)
      recoded_.add(file);
    if (with_classes_ && !read.blank)
      compare(file, read.text, label);
    text_.field(read.text);
    read.text = {};
    if (with_classes_)
      text_.field(label);
    return text_.end_row();
  }

  /// Counts texts that another class has, too.
  void compare(const fs::path& file, std::string_view text, const std::string& label) {
    const auto hash = hash128(text);
    const auto [at, fresh] = seen_.emplace(std::pair(hash.high, hash.low),
                                           std::pair(label, facts_.files.size() - 1));
    if (fresh || at->second.first == label)
      return;
    if (torn_.count == 0)
      twin_ = facts_.files[at->second.second];
    torn_.add(file);
  }

  fs::path folder_;
  table_text text_;
  bool with_classes_ = true;
  checksum_of_all checksum_;
  table_facts facts_;
  counted_files bad_, blank_, cut_, recoded_, torn_;
  std::string problem_, twin_;
  /// By a text's hash its class and its place among the files.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::string, std::size_t>>
      seen_;
};

std::vector<std::string> classes_of(const class_folder& found) {
  std::vector<std::string> out;
  for (const auto& file : found.files)
    out.push_back(found.classes[file.label]);
  return out;
}

} // namespace

expected<data_file> read_text_folder(const fs::path& folder, const table_choice& which) {
  const auto found = find_classes(folder, folder_kind::texts);
  if (!found)
    return tl::unexpected(found.error());
  if (auto fine = check_classes_of(*found); !fine)
    return tl::unexpected(std::move(fine).error());
  if (!which.name.empty())
    return wrong(folder,
                 fmt::format("holds texts by class; remove {}, which names one of "
                             "several tables",
                             which.key));
  text_table table(folder, which.most_bytes);
  return table.name_columns({text_column_name, class_column_name}, true)
      .and_then([&] { return table.add(found->paths(), classes_of(*found)); })
      .and_then([&] { return table.finish(); });
}

expected<data_file> read_new_texts(const fs::path& path, const text_names& names) {
  class_folder found{.folder = path.parent_path(),
                     .kind = folder_kind::texts,
                     .files = {},
                     .classes = {},
                     .unlabelled = {path.filename()}};
  if (is_folder(path)) {
    auto all = find_classes(path, folder_kind::texts);
    if (!all)
      return tl::unexpected(std::move(all).error());
    found = std::move(*all);
  }
  auto files = found.unlabelled;
  std::vector<std::string> classes(files.size());
  for (auto& file : found.paths())
    files.push_back(std::move(file));
  for (auto& one : classes_of(found))
    classes.push_back(std::move(one));
  if (files.empty())
    return wrong(path, "holds no text (.txt, .text, .md)");
  text_table table(found.folder,
                   std::min(table_choice().most_bytes, data_limits().most_bytes / 4));
  return table.name_columns(names, !found.files.empty())
      .and_then([&] { return table.add(files, classes); })
      .and_then([&] { return table.finish(); });
}

} // namespace clade
