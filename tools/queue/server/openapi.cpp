#include "tools/queue/server/openapi.hpp"

#include "engine/queue/queue_entry.hpp"
#include "engine/report/base/json_parts.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace clade {

namespace {

constexpr std::array<std::string_view, 4> methods{"delete", "get", "post", "put"};

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= path.size();) {
    const auto to = std::min(path.find('/', from), path.size());
    parts.emplace_back(path.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

bool fits(const std::string& known, const std::string& asked) {
  return known == asked || (known.starts_with('{') && !asked.empty());
}

std::string capitals(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return all;
}

/// A longer line of a property of a submission is broken.
constexpr std::size_t longest_line = 130;
/// The document has these first of a submission, then the others in the order of the list.
constexpr std::array<std::string_view, 5> first_sent{"command", "directory", "kind",
                                                     "name", "device"};

std::string spaced(const ordered_json& v);

/// The parts of an object or a list, each as `spaced` has it.
std::string parts_of(const ordered_json& v, std::string_view between) {
  std::string all;
  for (const auto& [key, one] : v.items())
    all += (all.empty() ? "" : std::string(between))
           + (v.is_object() ? text_of(key) + ": " : "") + spaced(one);
  return all;
}

/// JSON on one line, with blanks between its parts.
std::string spaced(const ordered_json& v) {
  return v.is_object()  ? fmt::format("{{{}}}", parts_of(v, ", "))
         : v.is_array() ? fmt::format("[{}]", parts_of(v, ", "))
                        : text_of(v);
}

/// A field of a submission, as the document has it.
struct property {
  std::string_view name;
  std::string text; ///< Its name and schema.

  property(const char* its_name, const char* type, const char* sentence,
           std::size_t longest)
      : name(its_name) {
    auto schema = ordered_json::parse(fmt::format("{{{}}}", type));
    if (*sentence != 0)
      schema["description"] = sentence;
    const auto begin = fmt::format("{}{}: ", std::string(10, ' '), text_of(name));
    text = begin + spaced(schema);
    if (text.size() >= longest)
      text = fmt::format("{}{{\n            {}\n          }}", begin,
                         parts_of(schema, ",\n            "));
  }
};

/// Gathers what the list of a submission's fields says to the document.
struct property_lister {
  std::vector<property> sent{}, shown{};

  void operator()(const char* name, const auto&, const documented& said) {
    if (said.is_sent())
      sent.emplace_back(name, said.sent_as, said.sent, longest_line);
    if (said.is_shown())
      shown.emplace_back(name, said.shown_as, said.shown, std::string::npos);
  }
  void last(const char* name, const auto& v, const documented& said) {
    (*this)(name, v, said);
  }
};

std::string document() {
  property_lister listed;
  const queue_submission any;
  fields(listed, any);
  std::ranges::stable_sort(listed.sent, {}, [](const property& p) {
    return std::ranges::find(first_sent, p.name) - first_sent.begin();
  });
  std::string text(openapi_frame());
  const auto fill = [&](std::string_view line, const std::string& by) {
    text.replace(text.find(line), line.size(), by);
  };
  fill(R"(          "@submission@": {})", joined(listed.sent, ",\n", &property::text));
  fill(R"(          "@entry@": {})", joined(listed.shown, ",\n", &property::text));
  fill("@keys@", joined(listed.shown, "\",\n              \"", &property::name));
  return text;
}

} // namespace

const std::string& openapi_text() {
  static const std::string text = document();
  return text;
}

documented_paths::documented_paths() {
  const auto document = ordered_json::parse(openapi_text());
  for (const auto& [path, item] : document.at("paths").items()) {
    documented_path one{.parts = parts_of(path), .methods = ""};
    for (const auto method : methods)
      if (item.contains(method))
        one.methods += (one.methods.empty() ? "" : ", ") + capitals(method);
    paths_.push_back(std::move(one));
  }
}

std::string documented_paths::methods_of(std::string_view path) const {
  const auto asked = parts_of(path);
  const auto found = std::ranges::find_if(paths_, [&](const documented_path& p) {
    return std::ranges::equal(p.parts, asked, fits);
  });
  return found == paths_.end() ? std::string() : found->methods;
}

} // namespace clade
