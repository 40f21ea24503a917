// A shell's function hands the words of the line to `clade complete-line`, hidden from
// --help, which prints what the last of them may become. It walks the tree of CLI11, so
// it knows what the parser knows; only what a value may be is said here, by the name of
// its option.
#include "engine/config/experiment/reference.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/command_tree.hpp"
#include "tools/cli/help/help_topics.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

namespace clade {

namespace {

using words = std::vector<std::string>;

constexpr const char* bash_script = R"(_clade() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete-line -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _clade clade
)";

constexpr const char* zsh_script = R"(#compdef clade
_clade() {
  local -a found
  found=("${(@f)$("${words[1]}" complete-line -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z ${found[1]} ]]; then _files; return; fi
  compadd -- "${(@)found:#*=}"
  compadd -S '' -- "${(@M)found:#*=}"
}
(( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _clade clade
)";

constexpr const char* fish_script = R"(function __clade_complete
  set -l line (commandline -opc) (commandline -ct)
  set -l found ($line[1] complete-line -- $line[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c clade -f -a '(__clade_complete)'
)";

words run_names() {
  const auto folders = list_run_folders();
  std::set<std::string> names;
  if (folders)
    for (const auto& run : *folders) {
      names.insert(run.name);
      names.insert(run.path.filename().string());
    }
  return {names.begin(), names.end()};
}

words strategy_words() {
  words names;
  for (const auto& s : strategies_with_advice())
    names.emplace_back(s.name);
  return names;
}

/// "evolution.population=", or with `text` up to its "=" the values that the key may
/// have.
words settings(const std::string& text) {
  const auto equals = text.find('=');
  words found;
  for (const auto& section : experiment_reference())
    for (const auto& key : section.keys) {
      const std::string start = fmt::format("{}.{}=", section.name, key.name);
      if (equals == std::string::npos)
        found.push_back(start);
      else if (start == "evolution.strategy=" && text.starts_with(start))
        for (const auto& name : strategy_words())
          found.push_back(start + name);
    }
  return found;
}

words topics(const CLI::App& root) {
  words found;
  for (const auto* c : subcommands_of(root))
    found.push_back(c->get_name());
  for (const auto& t : help_topics())
    found.emplace_back(t.name);
  return found;
}

/// Returns what the value of `option` may be; nothing where it is a file, or free.
words values_of(const CLI::Option& option, const CLI::App& root,
                const std::string& text) {
  const auto is = [&](const char* name) { return option.check_name(name); };
  if (is("run") || is("from") || is("model") || is("--with"))
    return run_names();
  if (is("--set") || is("--change"))
    return settings(text);
  if (is("--strategies"))
    return strategy_words();
  if (is("topic"))
    return topics(root);
  if (is("shell"))
    return {"bash", "fish", "zsh"};
  return {};
}

words option_names(const CLI::App& app) {
  words names;
  for (const auto* o : app.get_options())
    if (!o->get_group().empty())
      for (const auto& name : o->get_lnames())
        names.push_back("--" + name);
  return names;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& word) {
  for (const auto* o : app.get_options())
    if (o->check_name(word))
      return o;
  return nullptr;
}

/// The argument that stands in place `index` among those without a dash; the last one
/// may take several.
const CLI::Option* argument(const CLI::App& app, std::size_t index) {
  const CLI::Option* last = nullptr;
  for (const auto* o : app.get_options())
    if (o->get_positional() && o->get_lnames().empty()) {
      last = o;
      if (index-- == 0)
        return o;
    }
  return last != nullptr && last->get_items_expected_max() > 1 ? last : nullptr;
}

/// Returns what the last of `line`, the words after "clade", may become.
words completions(const CLI::App& root, const words& line) {
  const CLI::App* app = &root;
  const CLI::Option* pending = nullptr; ///< Waits for its value.
  std::size_t arguments = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const auto& word = line[i];
    if (pending != nullptr) {
      pending = nullptr;
    } else if (word.starts_with('-')) {
      const auto* o = find_option(*app, word);
      pending = o != nullptr && o->get_items_expected_min() > 0 ? o : nullptr;
    } else if (const auto* inner = find_subcommand(*app, word)) {
      app = inner;
      arguments = 0;
    } else {
      ++arguments;
    }
  }
  const auto& last = line.back();
  if (pending != nullptr)
    return values_of(*pending, root, last);
  if (last.starts_with('-'))
    return option_names(*app);
  words found;
  for (const auto* c : subcommands_of(*app))
    found.push_back(c->get_name());
  if (const auto* o = argument(*app, arguments); o != nullptr && found.empty())
    return values_of(*o, root, last);
  return found;
}

/// Bash takes "--set key=value" for four words; elsewhere it is two.
struct joined_line {
  words line;
  std::string before; ///< The part of the last word that the shell has already.
};

joined_line join(const words& split) {
  joined_line out;
  for (std::size_t i = 0; i < split.size(); ++i) {
    const bool goes_on =
        !out.line.empty() && i > 0
        && (split[i] == "=" || (split[i - 1] == "=" && split[i - 1].size() == 1));
    if (!goes_on) {
      out.line.push_back(split[i]);
      out.before.clear();
      continue;
    }
    if (split[i] != "=" || i + 1 == split.size())
      out.before = out.line.back() + (split[i] == "=" ? "=" : "");
    out.line.back() += split[i];
  }
  if (out.line.empty())
    out.line.emplace_back();
  return out;
}

int complete(const CLI::App& root, const words& given) {
  const auto [line, before] = join(given);
  for (const auto& found : completions(root, line))
    if (found.starts_with(line.back()))
      print_data(found.substr(before.size()) + "\n");
  return 0;
}

int print_script(const std::string& shell) {
  const char* script = shell == "bash"   ? bash_script
                       : shell == "zsh"  ? zsh_script
                       : shell == "fish" ? fish_script
                                         : nullptr;
  if (script == nullptr)
    return report(
        {error_kind::invalid_input,
         fmt::format("no completion for \"{}\"; there is bash, zsh and fish", shell)});
  print_data(script);
  return 0;
}

} // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
}

const CLI::App* find_subcommand(const CLI::App& app, const std::string& name) {
  for (const auto* c : subcommands_of(app))
    if (c->get_name() == name)
      return c;
  return nullptr;
}

void add_completion(CLI::App& app, command& chosen) {
  auto shell = std::make_shared<std::string>();
  auto* sub = app.add_subcommand("completion", "Print a script that completes commands");
  sub->add_option("shell", *shell, "bash, zsh or fish")->required()->option_text("SHELL");
  sub->footer("Commands, options, runs, strategies and keys are completed. To have it\n"
              "  bash   echo 'source <(clade completion bash)' >> ~/.bashrc\n"
              "  zsh    echo 'source <(clade completion zsh)' >> ~/.zshrc\n"
              "  fish   clade completion fish > ~/.config/fish/completions/clade.fish");
  sub->callback([&chosen, shell] { chosen = [shell] { return print_script(*shell); }; });
}

void add_complete_line(CLI::App& app, command& chosen) {
  auto line = std::make_shared<words>();
  auto* sub = app.add_subcommand("complete-line", "For the script of clade completion");
  sub->add_option("words", *line, "The words after clade");
  sub->callback(
      [&app, &chosen, line] { chosen = [&app, line] { return complete(app, *line); }; });
}

} // namespace clade
