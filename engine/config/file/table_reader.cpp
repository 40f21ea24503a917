// Every `read` asks for its key first, so the list of known keys is what the code reads
// and cannot differ from it. An error of a `validate` names a key in its text; the first
// whole word in it that is a key of the table gives the line.

#include "engine/config/file/table_reader.hpp"

#include "engine/config/file/units.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace clade {
namespace {

std::string text_of(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& n) {
    if constexpr (toml::is_table<decltype(n)>)
      out << "a table";
    else if constexpr (toml::is_array<decltype(n)>)
      out << "a list";
    else
      out << toml::toml_formatter(n, toml::format_flags::none);
  });
  return out.str();
}

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || c == '_';
}

// Returns the place at which `word` stands as a whole word in `text`; npos if it does
// not.
std::size_t find_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_part(text[at - 1]))
        && (end == text.size() || !is_word_part(text[end])))
      return at;
  }
  return std::string_view::npos;
}

std::string in_double_quotes(const std::string& word) {
  return fmt::format("\"{}\"", word);
}

} // namespace

bool table_reader::holds_table(std::string_view key) const {
  const auto* node = find(key);
  return node != nullptr && node->is_table();
}

bool table_reader::holds_text(std::string_view key) const {
  const auto* node = find(key);
  return node != nullptr && node->is_string();
}

bool table_reader::holds_list(std::string_view key) const {
  const auto* node = find(key);
  return node != nullptr && node->is_array();
}

std::vector<std::string> table_reader::names() const {
  std::vector<std::string> all;
  if (present())
    for (const auto& [key, node] : *table_)
      all.emplace_back(key.str());
  return all;
}

std::string table_reader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* table_reader::find(std::string_view key) const {
  return table_ == nullptr ? nullptr : table_->get(key);
}

const toml::node* table_reader::ask(std::string_view key) {
  asked_.emplace_back(key);
  return find(key);
}

table_reader table_reader::table(std::string_view key) {
  table_reader inner(*document_);
  inner.table_ = nullptr;
  inner.path_ = path_of(key);
  if (const toml::node* node = ask(key)) {
    inner.table_ = node->as_table();
    if (inner.table_ == nullptr)
      mismatch(key, "a table", *node);
  }
  return inner;
}

std::string table_reader::place(std::string_view key) const {
  const toml::node* node = find(key);
  return document_->place(path_of(key), node != nullptr ? node : table_);
}

void table_reader::fail(std::string_view key, std::string message) {
  if (document_->wrong)
    return;
  const std::string at = place(key);
  const std::string path = path_of(key);
  const auto set = document_->overridden.find(path);
  const bool named = set != document_->overridden.end() && !set->second.option.empty()
                     && set->second.key == path;
  // "--set training.epochs must be ...": a place that names the key says it for both.
  if (named && message.starts_with(path))
    message.erase(0, path.size());
  else
    message.insert(0, ": ");
  document_->wrong = error{error_kind::invalid_input, at + message};
}

void table_reader::mismatch(std::string_view key, std::string_view wanted,
                            const toml::node& there) {
  fail(key, fmt::format("{} must be {}, not {}", path_of(key), wanted, text_of(there)));
}

void table_reader::check(const expected<void>& valid) {
  if (valid)
    return;
  std::string message = valid.error().message;
  std::string named;
  std::size_t first = std::string::npos;
  for (const std::string& key : asked_)
    if (const std::size_t at = find_word(message, key); at < first) {
      first = at;
      named = key;
    }
  // A part says "population is 0" or "mutation.again is 2"; both get their whole path.
  const std::string own = path_.substr(path_.rfind('.') + 1) + ".";
  if (first == own.size() && message.starts_with(own))
    message.replace(0, own.size(), path_ + ".");
  else if (first == 0)
    message = path_of(message);
  fail(named, message);
}

void table_reader::finish() {
  if (table_ == nullptr)
    return;
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end())
      continue;
    const std::string near = nearest(name, asked_);
    std::vector<std::string> known = asked_;
    std::sort(known.begin(), known.end());
    fail(name,
         fmt::format("unknown key \"{}\"{}{}", name,
                     path_.empty() ? "" : fmt::format(" in [{}]", path_),
                     near.empty()
                         ? "; known are " + enumerated(known, " and ", in_double_quotes)
                         : fmt::format("; did you mean \"{}\"?", near)));
  }
}

void table_reader::read(std::string_view key, std::string& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  if (const auto v = node->value_exact<std::string>())
    out = *v;
  else
    mismatch(key, "a string", *node);
}

void table_reader::read(std::string_view key, bool& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  if (const auto v = node->value_exact<bool>())
    out = *v;
  else
    mismatch(key, "true or false", *node);
}

void table_reader::read(std::string_view key, double& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  if (const auto v = real_of(*node))
    out = *v;
  else
    mismatch(key, "a number", *node);
}

std::int64_t table_reader::whole(std::string_view key, std::int64_t low,
                                 std::uint64_t high, std::int64_t otherwise) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return otherwise;
  const auto v = node->value_exact<std::int64_t>();
  if (v && *v >= low && (*v < 0 || static_cast<std::uint64_t>(*v) <= high))
    return *v;
  const std::string most = std::to_string(high);
  const bool any = low == std::numeric_limits<std::int64_t>::min();
  mismatch(key,
           "a whole number"
               + (any             ? ""
                  : v && *v > low ? " of at most " + most
                                  : fmt::format(" of {} or more", low)),
           *node);
  return otherwise;
}

void table_reader::read(std::string_view key, std::int64_t& out) {
  out = whole(key, std::numeric_limits<std::int64_t>::min(),
              std::numeric_limits<std::int64_t>::max(), out);
}

void table_reader::read(std::string_view key, std::uint64_t& out) {
  out = static_cast<std::uint64_t>(whole(key, 0, std::numeric_limits<std::int64_t>::max(),
                                         static_cast<std::int64_t>(out)));
}

void table_reader::read(std::string_view key, std::uint32_t& out) {
  out = static_cast<std::uint32_t>(
      whole(key, 0, std::numeric_limits<std::uint32_t>::max(), out));
}

std::chrono::microseconds table_reader::duration(std::string_view key,
                                                 std::chrono::microseconds otherwise) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return otherwise;
  const auto text = node->value_exact<std::string>();
  if (!text) {
    mismatch(key, "a time with its unit, such as \"90s\" or \"2min\"", *node);
    return otherwise;
  }
  const auto parsed = parse_duration(*text);
  if (!parsed)
    fail(key, fmt::format("{}: {}", path_of(key), parsed.error().message));
  return parsed.value_or(otherwise);
}

void table_reader::read(std::string_view key, std::chrono::microseconds& out) {
  out = duration(key, out);
}

void table_reader::read(std::string_view key, std::chrono::milliseconds& out) {
  const auto exact = duration(key, out);
  const auto rounded = std::chrono::duration_cast<std::chrono::milliseconds>(exact);
  if (rounded != exact)
    fail(key, path_of(key) + " is counted in whole milliseconds");
  out = rounded;
}

void table_reader::read_size(std::string_view key, std::uint64_t& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  const auto text = node->value_exact<std::string>();
  if (!text) {
    mismatch(key, "a size with its unit, such as \"512MiB\" or \"2GiB\"", *node);
    return;
  }
  const auto parsed = parse_size(*text);
  if (!parsed)
    fail(key, fmt::format("{}: {}", path_of(key), parsed.error().message));
  else
    out = *parsed;
}

void table_reader::read(std::string_view key, tensor_shape& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    mismatch(key, "a list of sizes, such as [1, 28, 28]", *node);
    return;
  }
  tensor_shape shape;
  for (const toml::node& size : *list) {
    const auto n = size.value_exact<std::int64_t>();
    if (!n) {
      mismatch(key, "a list of whole numbers, such as [1, 28, 28]", size);
      return;
    }
    shape.sizes.push_back(*n);
  }
  out = std::move(shape);
}

template<class Number, class Parse>
void table_reader::read_numbers(std::string_view key, const char* wanted,
                                std::vector<Number>& out, Parse parse) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  const toml::array* list = node->as_array();
  if (list == nullptr)
    return mismatch(key, wanted, *node);
  std::vector<Number> numbers;
  for (const toml::node& one : *list) {
    const std::optional<Number> n = parse(one);
    if (!n)
      return mismatch(key, wanted, one);
    numbers.push_back(*n);
  }
  out = std::move(numbers);
}

void table_reader::read(std::string_view key, std::vector<std::uint32_t>& out) {
  read_numbers(key, "a list of whole numbers, such as [1, 3, 9]", out,
               [](const toml::node& one) -> std::optional<std::uint32_t> {
                 const auto n = one.value_exact<std::int64_t>();
                 if (!n || *n < 0 || *n > std::numeric_limits<std::uint32_t>::max())
                   return std::nullopt;
                 return static_cast<std::uint32_t>(*n);
               });
}

void table_reader::read(std::string_view key, std::vector<double>& out) {
  read_numbers(key, "a list of numbers, such as [0.1, 0.5, 0.9]", out,
               [](const toml::node& one) {
                 return one.is_number() ? one.value<double>() : std::nullopt;
               });
}

void table_reader::read_path(std::string_view key, std::filesystem::path& out,
                             const std::filesystem::path& folder) {
  std::string text;
  read(key, text);
  if (text.empty())
    return;
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(folder / text, failed);
  if (failed)
    fail(key, fmt::format("{}: {}", path_of(key), failed.message()));
  out = absolute.lexically_normal();
}

void table_reader::read_name_or_number(std::string_view key, std::string& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  if (const auto number = node->value_exact<std::int64_t>())
    out = std::to_string(*number);
  else if (const auto name = node->value_exact<std::string>())
    out = *name;
  else
    mismatch(key, "the name of a column, its number, or \"last\"", *node);
}

void table_reader::read_list(std::string_view key, std::vector<std::string>& out) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return;
  std::vector<std::string> list;
  if (const auto one = node->value_exact<std::string>())
    list.push_back(*one);
  else if (const auto number = node->value_exact<std::int64_t>())
    list.push_back(std::to_string(*number));
  else if (const toml::array* several = node->as_array())
    for (const toml::node& item : *several) {
      if (const auto text = item.value_exact<std::string>())
        list.push_back(*text);
      else if (const auto number = item.value_exact<std::int64_t>())
        list.push_back(std::to_string(*number));
      else {
        mismatch(key, "a list of strings", item);
        return;
      }
    }
  else {
    mismatch(key, "a string or a list of strings", *node);
    return;
  }
  out = std::move(list);
}

std::size_t table_reader::choice(std::string_view key,
                                 const std::vector<std::string>& words) {
  const toml::node* node = ask(key);
  if (node == nullptr)
    return words.size();
  const auto word = node->value_exact<std::string>();
  if (word)
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] == *word)
        return i;
  mismatch(key, enumerated(words, " or ", in_double_quotes), *node);
  return words.size();
}

} // namespace clade
