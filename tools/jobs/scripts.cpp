#include "tools/jobs/scripts.hpp"

#include "genome/base/child_process.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace clade {

namespace {

namespace fs = std::filesystem;

/// A script before it has a name.
struct found_script {
  fs::path path;
  fs::path below;  ///< Its path below the folder in which it was found.
  fs::path folder; ///< That folder's own name.
};

tl::unexpected<error> wrong(const std::string& why) {
  return fail(error_kind::invalid_input, why);
}

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool matches_file(const std::vector<std::string>& patterns, const fs::path& below) {
  return std::ranges::any_of(patterns, [&](const std::string& p) {
    return matches(p, p.find('/') == std::string::npos ? below.filename().string()
                                                       : below.string());
  });
}

bool is_passed_over(const fs::path& folder) {
  const auto name = folder.filename().string();
  std::error_code unknown;
  return name.starts_with(".") || name == "__pycache__" || name == "node_modules"
         || fs::exists(folder / "pyvenv.cfg", unknown);
}

expected<void> search_folder(const fs::path& place,
                             const std::vector<std::string>& patterns,
                             std::vector<found_script>& found) {
  std::error_code failed;
  const auto folder = fs::canonical(place, failed);
  fs::recursive_directory_iterator at(
      folder, fs::directory_options::skip_permission_denied, failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end;
       at.increment(failed)) {
    std::error_code unknown;
    if (at->is_directory(unknown) && is_passed_over(at->path()))
      at.disable_recursion_pending();
    const auto below = at->path().lexically_relative(folder);
    if (at->is_regular_file(unknown) && matches_file(patterns, below))
      found.push_back({at->path(), below, folder.filename()});
  }
  if (failed)
    return fail(error_kind::io, fmt::format("{}: {}", place.string(), failed.message()));
  return {};
}

expected<std::vector<found_script>> search_all(const script_search& search) {
  std::vector<found_script> found;
  for (const auto& place : search.places) {
    std::error_code unknown;
    if (fs::is_directory(place, unknown)) {
      if (auto searched = search_folder(place, search.patterns, found); !searched)
        return tl::unexpected(std::move(searched).error());
    } else if (const auto file = fs::canonical(place, unknown);
               !unknown && fs::is_regular_file(file, unknown)) {
      found.push_back({file, file.filename(), file.parent_path().filename()});
    } else {
      return fail(error_kind::not_found, place.string() + ": no such folder or script");
    }
  }
  std::ranges::sort(found, {}, &found_script::path);
  const auto again = std::ranges::unique(found, {}, &found_script::path);
  found.erase(again.begin(), again.end());
  return found;
}

/// The names that a script may have, the shortest first.
std::string name_of(const found_script& s, int length) {
  switch (length) {
  case 0:
    return (s.below.parent_path() / s.below.stem()).string();
  case 1:
    return s.below.string();
  case 2:
    return (s.folder / s.below).string();
  default:
    return s.path.relative_path().string();
  }
}

std::vector<script> named(const std::vector<found_script>& found) {
  for (int length = 0;; ++length) {
    std::set<std::string> names;
    std::vector<script> all;
    for (const auto& f : found) {
      all.push_back({name_of(f, length), f.path});
      names.insert(all.back().name);
    }
    if (names.size() < found.size())
      continue; // Paths differ, so that this ends.
    std::ranges::sort(all, {}, &script::name);
    return all;
  }
}

bool is_meant(const std::string& word, const script& s) {
  return word == s.path.filename() || word == s.path.stem() || matches(word, s.name);
}

expected<void> check_words(const std::string& option,
                           const std::vector<std::string>& words,
                           const std::vector<script>& all) {
  std::vector<std::string> names;
  for (const auto& s : all)
    names.push_back(s.name);
  for (const auto& word : words)
    if (std::ranges::none_of(all, [&](const script& s) { return is_meant(word, s); })) {
      const auto near = nearest(word, names);
      return wrong(
          fmt::format("{} {}: no script has that name{}", option, word,
                      near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
  return {};
}

} // namespace

expected<std::vector<script>> find_scripts(const script_search& search) {
  const auto found = search_all(search);
  if (!found)
    return tl::unexpected(found.error());
  if (found->empty())
    return wrong(fmt::format(
        "no script in {} is named {}; --include-pattern says what else to look for",
        joined(search.places), joined(search.patterns)));
  auto all = named(*found);
  for (const auto& [option, words] :
       {std::pair{"--only", &search.only}, std::pair{"--exclude", &search.exclude}})
    if (auto known = check_words(option, *words, all); !known)
      return tl::unexpected(std::move(known).error());
  const auto is_in = [](const std::vector<std::string>& words, const script& s) {
    return std::ranges::any_of(words, [&](const auto& w) { return is_meant(w, s); });
  };
  std::erase_if(all, [&](const script& s) {
    return (!search.only.empty() && !is_in(search.only, s)) || is_in(search.exclude, s);
  });
  if (all.empty())
    return wrong("--only and --exclude leave no script");
  for (const auto& s : all)
    if (plain_line(s.name) != s.name)
      return wrong(fmt::format("the script {} has characters in its name that cannot be "
                               "printed; rename it, or leave it out: --exclude PATTERN",
                               plain_line(s.path.string())));
  return all;
}

expected<std::vector<std::string>> words_to_start(const fs::path& script) {
  std::ifstream in(script, std::ios::binary);
  if (!in)
    return fail(error_kind::not_found, script.string() + ": cannot be read");
  std::array<char, 256> begin{};
  in.read(begin.data(), begin.size());
  const std::string text(begin.data(), static_cast<std::size_t>(in.gcount()));
  const auto line = text.substr(0, text.find('\n'));
  const bool executable = ::access(script.c_str(), X_OK) == 0;
  std::vector<std::string> words;
  if (line.starts_with("#!") && !executable) {
    std::istringstream named(line.substr(2));
    for (std::string word; named >> word;)
      words.push_back(word);
  }
  constexpr std::array<std::pair<const char*, const char*>, 6> endings{
      {{".py", "python3"},
       {".sh", "sh"},
       {".bash", "bash"},
       {".R", "Rscript"},
       {".jl", "julia"},
       {".pl", "perl"}}};
  if (words.empty() && !(executable && line.starts_with("#!")))
    for (const auto& [ending, program] : endings)
      if (script.extension() == ending)
        words.emplace_back(program);
  if (words.empty() && !executable)
    return wrong(script.string()
                 + ": it cannot be started: make it executable (chmod +x), or write "
                   "what runs it into its first line, such as #!/bin/sh");
  words.push_back(script.string());
  const bool by_itself = words.size() == 1;
  auto readable = by_itself ? find_program(script.string()).map([](const fs::path&) {})
                            : check_shell_script(words);
  if (!readable)
    return tl::unexpected(std::move(readable).error());
  return words;
}

} // namespace clade
