// kubectl's verbs have a resource behind them: "get jobs", "describe job 3", "logs
// job/3". Only sbatch of SLURM's programs has options that mean something here; the
// #SBATCH lines of a script come before the command line, which wins.

#include "tools/queue/clusters/familiar_words.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace clade {

namespace {

using words = std::vector<std::string>;

struct rename {
  std::string_view theirs;
  std::array<std::string_view, 2> ours;
};

constexpr std::array renames{
    rename{"delete", {"cancel"}}, rename{"scancel", {"cancel"}},
    rename{"squeue", {"get"}},    rename{"sacct", {"get", "--all"}},
    rename{"sinfo", {"top"}},
};

constexpr std::array resource_verbs{"get", "describe", "logs", "cancel", "wait", "top"};
constexpr std::array entry_resources{"job", "jobs", "entry", "entries"};
constexpr std::array pod_resources{"pod", "pods"};
constexpr std::array node_resources{"node", "nodes", "machine", "machines"};

template<std::size_t N>
bool is_one_of(const std::array<const char*, N>& all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

/// Options of those verbs behind which stands a value, such as the folder "jobs/lab".
constexpr std::array options_with_values{"--queue", "--to", "--namespace", "--rank"};

/// "get jobs 3" is "get 3", "get pods 3" is "pods 3", "get nodes" is "top", and "job/3" is
/// "3" wherever a number or name may stand.
words without_resource(words w) {
  for (std::size_t i = 1; i < w.size(); ++i)
    if (const auto slash = w[i].find('/');
        slash != std::string::npos && !is_one_of(options_with_values, w[i - 1])
        && w[i].find('/', slash + 1) == std::string::npos
        && (is_one_of(entry_resources, w[i].substr(0, slash))
            || is_one_of(pod_resources, w[i].substr(0, slash))))
      w[i].erase(0, slash + 1);
  if (w.size() < 2)
    return w;
  const auto resource = w[1];
  const bool pods = is_one_of(pod_resources, resource),
             nodes = is_one_of(node_resources, resource);
  if (!pods && !nodes && !is_one_of(entry_resources, resource))
    return w;
  w.erase(w.begin() + 1);
  if (w[0] == "get" && nodes)
    w[0] = "top";
  else if (w[0] == "get" && pods && w.size() > 1 && !w[1].starts_with('-'))
    w[0] = "pods";
  return w;
}

/// An option of sbatch.
struct sbatch_option {
  std::string_view name;
  char letter = 0;
  bool has_value = true;
};

/// The options that mean something here, then those that are not heeded.
constexpr std::array sbatch_options{
    sbatch_option{"queue"}, // Ours.
    sbatch_option{"job-name", 'J'},
    sbatch_option{"cpus-per-task", 'c'},
    sbatch_option{"ntasks", 'n'},
    sbatch_option{"gres"},
    sbatch_option{"gpus", 'G'},
    sbatch_option{"time", 't'},
    sbatch_option{"dependency", 'd'},
    sbatch_option{"wrap"},
    sbatch_option{"nice"},
    sbatch_option{"requeue", 0, false},
    sbatch_option{"parsable", 0, false},
    sbatch_option{"no-requeue", 0, false},
    sbatch_option{"partition", 'p'},
    sbatch_option{"output", 'o'},
    sbatch_option{"error", 'e'},
    sbatch_option{"account", 'A'},
    sbatch_option{"qos", 'q'},
    sbatch_option{"nodes", 'N'},
    sbatch_option{"chdir", 'D'},
    sbatch_option{"constraint", 'C'},
    sbatch_option{"mem"},
    sbatch_option{"mem-per-cpu"},
    sbatch_option{"mem-per-gpu"},
    sbatch_option{"ntasks-per-node"},
    sbatch_option{"gpus-per-node"},
    sbatch_option{"gpus-per-task"},
    sbatch_option{"mail-type"},
    sbatch_option{"mail-user"},
    sbatch_option{"export"},
    sbatch_option{"array", 'a'},
    sbatch_option{"exclusive", 0, false},
    sbatch_option{"verbose", 'v', false},
    sbatch_option{"open-mode"},
    sbatch_option{"signal"},
};
constexpr std::array heeded{"queue",   "job-name", "cpus-per-task", "ntasks", "gres",
                            "gpus",    "time",     "dependency",    "wrap",   "nice",
                            "requeue", "parsable", "no-requeue"};

tl::unexpected<error> refuse(const std::string& what) {
  return fail(error_kind::invalid_input, "sbatch " + what);
}

/// Options by their long names, and the words behind them.
struct sbatch_line {
  std::map<std::string, std::string> options{};
  words rest{};
};

expected<sbatch_line> read_options(std::span<const std::string> given) {
  sbatch_line line;
  std::size_t i = 0;
  for (; i < given.size() && given[i].starts_with('-') && given[i] != "--"; ++i) {
    const auto& word = given[i];
    const bool is_long = word.starts_with("--");
    const auto equals = is_long ? word.find('=') : std::string::npos;
    const auto name =
        is_long ? word.substr(2, equals == std::string::npos ? equals : equals - 2)
                : word.substr(1, 1);
    const auto* option =
        std::ranges::find_if(sbatch_options, [&](const sbatch_option& o) {
          return is_long ? o.name == name
                         : o.letter != 0 && name == std::string(1, o.letter);
        });
    if (option == sbatch_options.end())
      return refuse(word
                    + ": clade does not know it; clade submit --help says what there is");
    auto& value = line.options[std::string(option->name)];
    if (equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (!is_long && word.size() > 2)
      value = word.substr(2);
    else if (option->has_value) {
      if (++i == given.size())
        return refuse(word + ": it has no value");
      value = given[i];
    }
  }
  line.rest.assign(given.begin() + static_cast<std::ptrdiff_t>(i), given.end());
  if (!line.rest.empty() && line.rest.front() == "--")
    line.rest.erase(line.rest.begin());
  return line;
}

/// Reads the options of the lines at the beginning of a script, before its first command.
expected<std::map<std::string, std::string>> options_in(const std::string& script) {
  std::ifstream in(script);
  std::map<std::string, std::string> all;
  for (std::string line; std::getline(in, line) && (line.empty() || line[0] == '#');) {
    constexpr std::string_view mark = "#SBATCH";
    if (!line.starts_with(mark))
      continue;
    words given;
    std::string word;
    for (const char c : line.substr(mark.size()) + " ")
      if (c != ' ' && c != '\t')
        word += c;
      else if (!word.empty())
        given.push_back(std::exchange(word, {}));
    // The text after a "#" is for people.
    given.erase(std::ranges::find_if(given, [](const auto& w) { return w[0] == '#'; }),
                given.end());
    const auto read = read_options(given);
    if (!read)
      return fail(error_kind::invalid_input,
                  fmt::format("{}: {}", script, read.error().message));
    for (const auto& [name, value] : read->options)
      all[name] = value;
  }
  return all;
}

/// Seconds of "90" (minutes), "1:30" (minutes), "1:00:00", "2-12" (days and hours) and
/// "2-12:30:00".
std::optional<std::uint64_t> seconds_of(std::string_view text) {
  const auto dash = text.find('-');
  std::vector<std::uint64_t> parts;
  std::uint64_t days = 0;
  if (dash != std::string_view::npos) {
    const auto n = parse_number<std::uint64_t>(text.substr(0, dash));
    if (!n)
      return std::nullopt;
    days = *n;
    text.remove_prefix(dash + 1);
  }
  for (bool more = true; more;) {
    const auto colon = text.find(':');
    more = colon != std::string_view::npos;
    const auto n = parse_number<std::uint64_t>(text.substr(0, colon));
    if (!n)
      return std::nullopt;
    parts.push_back(*n);
    text.remove_prefix(more ? colon + 1 : text.size());
  }
  if (parts.size() > 3)
    return std::nullopt;
  // Behind days the first number is hours; else one or two begin with minutes.
  if (dash == std::string_view::npos && parts.size() < 3)
    parts.insert(parts.begin(), 0);
  parts.resize(3);
  return ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
}

/// Reads the GPUs of "gpu:2", "gpu:a100:2", "2", "gpu".
std::optional<std::uint64_t> gpus_of(std::string_view text) {
  if (text == "gpu")
    return 1;
  return parse_number<std::uint64_t>(text.substr(text.rfind(':') + 1));
}

/// The options of clade submit that say the same.
expected<words> submit_options(const std::map<std::string, std::string>& options) {
  const auto value = [&](const char* name) -> const std::string* {
    const auto found = options.find(name);
    return found == options.end() ? nullptr : &found->second;
  };
  words ours;
  const auto wrong = [](const std::string& name, const std::string& text) {
    return refuse(fmt::format("--{}={}: clade does not understand it", name, text));
  };
  if (const auto* queue = value("queue"))
    ours.push_back("--queue=" + *queue);
  if (const auto* name = value("job-name"))
    ours.push_back("--name=" + *name);
  std::uint64_t tasks = 1, cpus = 1;
  for (const auto& [name, of] : {std::pair{"ntasks", &tasks}, {"cpus-per-task", &cpus}})
    if (const auto* text = value(name)) {
      const auto n = parse_number<std::uint64_t>(*text);
      if (!n)
        return wrong(name, *text);
      *of = *n;
    }
  auto slots = tasks * cpus;
  for (const char* name : {"gres", "gpus"})
    if (const auto* text = value(name)) {
      const auto n = gpus_of(*text);
      if (!n)
        return wrong(name, *text);
      slots = *n;
      ours.emplace_back("--device=cuda");
    }
  if (slots != 1)
    ours.push_back(fmt::format("--slots={}", slots));
  if (tasks != 1)
    ours.push_back(fmt::format("--ranks={}", tasks));
  if (const auto* text = value("time")) {
    const auto time = seconds_of(*text);
    if (!time)
      return wrong("time", *text);
    ours.push_back(fmt::format("--time={}s", *time));
  }
  if (const auto* text = value("nice"))
    ours.push_back("--priority="
                   + (text->starts_with('-') ? text->substr(1) : "-" + *text));
  if (const auto* text = value("dependency")) {
    constexpr std::string_view kind = "afterok:";
    if (!text->starts_with(kind))
      return refuse(fmt::format("--dependency={}: clade has afterok alone", *text));
    auto ids = text->substr(kind.size());
    std::ranges::replace(ids, ':', ',');
    ours.push_back("--after=" + ids);
  }
  if (value("requeue") != nullptr)
    ours.emplace_back("--requeue");
  return ours;
}

expected<our_words> sbatch(std::span<const std::string> given) {
  const auto line = read_options(given);
  if (!line)
    return tl::unexpected(line.error());
  const auto wrap = line->options.find("wrap");
  if (wrap == line->options.end() && line->rest.empty())
    return refuse("wants a script, or --wrap=\"COMMAND\"");
  std::map<std::string, std::string> options;
  if (wrap == line->options.end()) {
    auto said = options_in(line->rest.front());
    if (!said)
      return tl::unexpected(said.error());
    options = std::move(*said);
  }
  for (const auto& [name, value] : line->options)
    options[name] = value;
  for (const char* name : {"array", "chdir"})
    if (options.contains(name))
      return refuse(fmt::format("--{}: clade submit has no equal", name));
  our_words ours{.words = {"submit"}};
  for (const auto& [name, value] : options)
    if (!is_one_of(heeded, name))
      ours.note += (ours.note.empty() ? "not heeded: --" : ", --") + name
                   + (value.empty() ? "" : "=" + value);
  const auto said = submit_options(options);
  if (!said)
    return tl::unexpected(said.error());
  ours.words.insert(ours.words.end(), said->begin(), said->end());
  ours.words.emplace_back("--");
  if (wrap != line->options.end())
    ours.words.insert(ours.words.end(), {"sh", "-c", wrap->second});
  else
    ours.words.insert(ours.words.end(), line->rest.begin(), line->rest.end());
  return ours;
}

} // namespace

expected<our_words> in_our_words(words w) {
  if (w.empty())
    return our_words{};
  if (w[0] == "sbatch")
    return sbatch(std::span(w).subspan(1));
  if (w.size() > 3 && w[0] == "scontrol" && w[1] == "show" && w[2] == "job")
    return our_words{.words = {"describe", w[3]}};
  for (const auto& r : renames)
    if (w[0] == r.theirs) {
      w[0] = r.ours[0];
      if (!r.ours[1].empty())
        w.insert(w.begin() + 1, std::string(r.ours[1]));
      break;
    }
  if (is_one_of(resource_verbs, w[0]))
    w = without_resource(std::move(w));
  return our_words{.words = std::move(w)};
}

} // namespace clade
