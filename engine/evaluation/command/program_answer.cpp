#include "engine/evaluation/command/program_answer.hpp"

#include "genome/base/json_depth.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "genome/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_metrics = 256, longest_name = 128, longest_quoted = 300;
constexpr std::uint64_t most_answer_bytes = 1 << 20;
constexpr const char* epoch_key = "epoch";

bool looks_like_object(std::string_view line) {
  return line.starts_with('{') && line.ends_with('}');
}

/// The last line of which `wanted` is true; empty if there is none.
template<class Predicate>
std::string_view last_line(std::string_view text, Predicate wanted) {
  while (!text.empty()) {
    const auto begin = text.rfind('\n');
    const auto line =
        trimmed(text.substr(begin == std::string_view::npos ? 0 : begin + 1));
    if (wanted(line))
      return line;
    text = text.substr(0, begin == std::string_view::npos ? 0 : begin);
  }
  return {};
}

/// Some languages write NaN and Infinity, which are no JSON; null stands for them then.
std::string without_infinities(std::string_view line) {
  std::string out;
  bool in_text = false;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t length = 0;
    if (!in_text)
      for (const std::string_view word : {"NaN", "-Infinity", "Infinity"})
        if (line.substr(at).starts_with(word))
          length = std::max(length, word.size());
    if (length > 0) {
      out += "null";
      at += length;
      continue;
    }
    if (line[at] == '\\' && at + 1 < line.size())
      out += line[at++];
    else if (line[at] == '"')
      in_text = !in_text;
    out += line[at++];
  }
  return out;
}

/// Discarded where it is none.
json parse_object(std::string_view text) {
  if (!looks_like_object(text) || !nests_within(text))
    return json(json::value_t::discarded);
  return json::parse(without_infinities(text), nullptr, false);
}

/// The number of the epoch that a report is of; nothing where it is an answer alone.
std::optional<std::uint32_t> epoch_of(const json& object) {
  const auto found = object.find(epoch_key);
  if (found == object.end() || !found->is_number())
    return std::nullopt;
  const auto number = found->get<double>();
  if (!(number >= 1) || number > std::numeric_limits<std::uint32_t>::max()
      || std::floor(number) != number)
    return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= longest_name && is_plain_text(name);
}

/// Returns the metrics of a report that are fit to be shown.
std::vector<metric> metrics_of(const json& object) {
  std::vector<metric> metrics;
  for (const auto& [name, number] : object.items())
    if (name != epoch_key && is_name(name) && number.is_number()
        && std::isfinite(number.get<double>()))
      metrics.push_back({name, number.get<double>()});
  std::ranges::sort(metrics, {}, &metric::name);
  return metrics;
}

} // namespace

bool report_reader::read(std::string_view line) {
  const auto object = parse_object(trimmed(line));
  if (object.is_discarded())
    return false;
  const auto number = epoch_of(object);
  if (number && object.size() <= most_metrics)
    hear(*number, metrics_of(object));
  return true;
}

void report_reader::read_next(std::vector<metric> metrics, std::uint32_t epochs_before) {
  hear(std::max(heard_, epochs_before) + 1, std::move(metrics));
}

void report_reader::hear(std::uint32_t number, std::vector<metric> metrics) {
  if (number <= heard_)
    return;
  heard_ = number;
  hear_(
      {.number = number,
       .metrics = std::move(metrics),
       .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_)
                      .count()});
}

void followed_file::look() {
  if (!open_)
    open_.reset(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 64 << 10> block;
  ssize_t count = 0;
  // So that who writes without end does not keep its reader from looking at the clock.
  for (int i = 0;
       open_ && i < 16 && (count = ::read(open_.get(), block.data(), block.size())) > 0;
       ++i)
    lines_.add({block.data(), static_cast<std::size_t>(count)});
}

void followed_file::look_last() {
  look();
  lines_.finish();
}

void watched_file::look() {
  struct stat is {};
  if (::stat(file_.c_str(), &is) != 0
      || (is.st_mtim.tv_sec == changed_.tv_sec && is.st_mtim.tv_nsec == changed_.tv_nsec
          && static_cast<std::size_t>(is.st_size) == seen_.size()))
    return;
  // One that is too large is said at its end.
  const auto text = read_whole_file(file_, {.most_bytes = most_answer_bytes});
  if (!text)
    return;
  changed_ = is.st_mtim;
  if (!parse_object(trimmed(*text)).is_discarded()) {
    on_object_(trimmed(*text));
  } else {
    // If lines were appended, those before them are known.
    const bool longer = text->starts_with(seen_);
    const auto known = longer ? seen_.rfind('\n') : std::string::npos;
    line_splitter lines(on_object_);
    lines.add(std::string_view(*text).substr(known == std::string::npos ? 0 : known + 1));
  }
  seen_ = *text;
}

std::string_view last_object(std::string_view output) {
  return last_line(output, looks_like_object);
}

std::string answer_in_file(const std::filesystem::path& file) {
  // None that can be read is no answer, as an empty one is.
  const auto text = read_whole_file(file, {.most_bytes = most_answer_bytes});
  if (!text)
    return {};
  if (!parse_object(trimmed(*text)).is_discarded())
    return std::string(trimmed(*text));
  return std::string(last_object(*text));
}

void read_answer(std::string_view answer, evaluation& e) {
  auto object = parse_object(trimmed(answer));
  if (object.is_object())
    object.erase(epoch_key);
  if (object.is_discarded() || object.empty() || object.size() > most_metrics)
    return fail_with(e, outcome::invalid,
                     "the program answered with no line of metrics, such as "
                     "{\"validation.accuracy\": 0.93}");
  for (const auto& [name, number] : object.items()) {
    if (!is_name(name))
      return fail_with(
          e, outcome::invalid,
          fmt::format("the program named a metric \"{}\": a name has 1 to 128 characters",
                      plain_text(name.substr(0, longest_name))));
    if (number.is_null())
      return fail_with(e, outcome::diverged, name + " is not finite");
    if (!number.is_number())
      return fail_with(e, outcome::invalid, name + " is no number");
    e.metrics.push_back({name, number.get<double>()});
  }
  std::ranges::sort(e.metrics, {}, &metric::name);
}

void check_objective(const objective& goal, evaluation& e) {
  std::vector<std::string> asked;
  for (const auto& a : aims_of(goal))
    asked.push_back(a.metric);
  for (const auto& c : goal.constraints)
    asked.push_back(c.metric);
  for (const auto& name : asked)
    if (!measured(e, name)) {
      const std::string all =
          joined(e.metrics, ", ", [&](const auto& m) { return m.name; });
      return fail_with(
          e, outcome::invalid,
          fmt::format(
              "the program's answer lacks {}, which the objective names; it has {}", name,
              all.substr(0, longest_quoted)));
    }
}

std::string last_words(std::string_view errors) {
  const auto line = last_line(errors, [](std::string_view l) { return !l.empty(); });
  return line.empty() ? "" : ": " + plain_text(line.substr(0, longest_quoted));
}

} // namespace clade
