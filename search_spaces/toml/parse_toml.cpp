// How deep a text goes is known without parsing it, from where texts and comments begin
// and end, the brackets and the dots:
//
//     [a.b]               2, and so much deeper is all that follows up to the next header
//     c.d.e = 1           3
//     f = {g.h = [1]}     1 for f, 1 for {, 2 for g.h, 1 for [
//
// The dot in 1.5 counts too, for as long as that value lasts.
//
// toml++ 3.3 assumes that a header begins with a name, and that no separator of lines of
// Unicode (U+0085, U+2028, U+2029) stands outside of texts and comments, and no } in a
// list beside its values, and does what it likes where that does not hold, as in [=]; so
// that is looked at here too.

#include "search_spaces/toml/parse_toml.hpp"

#include "genome/base/whole_file.hpp"
#include "search_spaces/toml/toml_mistake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace clade {
namespace {

static_assert(deepest_toml == 32);
constexpr const char* too_deep = "tables, lists or the parts of a dotted key lie more "
                                 "than 32 deep in each other";
constexpr const char* nameless =
    "the name of a section stands in brackets, such as [data]; other letters than a to z "
    "need quotes";
constexpr const char* not_closed = "what [ opens is not closed by ] before a }";
constexpr const char* separator = "an invisible separator of lines stands outside of "
                                  "quotes; remove it, or begin a new line";

bool separates_lines(std::string_view text) {
  return text.starts_with("\xc2\x85") || text.starts_with("\xe2\x80\xa8")
         || text.starts_with("\xe2\x80\xa9");
}

// Goes over a text once. Every function leaves `at_` behind what it has read.
class depth_scan {
public:
  explicit depth_scan(std::string_view text) : text_(text) {}

  struct finding {
    std::size_t line = 0;
    const char* what = nullptr;
  };

  std::optional<finding> first_fault() {
    while (at_ < text_.size()) {
      step(text_[at_]);
      if (fault_ == nullptr && depth_ > deepest_toml)
        fault_ = too_deep;
      if (fault_ != nullptr)
        return finding{line_, fault_};
    }
    return std::nullopt;
  }

private:
  void step(char c) {
    switch (c) {
    case '#':
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    case '"':
    case '\'':
      return skip_text(c);
    case '\n':
      ++line_;
      if (outer_.empty())
        end_statement();
      break;
    case ',':
      depth_ = outer_.empty() ? header_ : outer_.back().depth + 1;
      break;
    case '[':
    case '{':
      open();
      break;
    case ']':
    case '}':
      close();
      break;
    case '.':
      begun_ = true;
      ++depth_;
      break;
    case ' ':
    case '\t':
    case '\r':
      break;
    default:
      // Beside texts and comments this is a blank, a byte-order mark, or a mistake.
      if (static_cast<unsigned char>(c) >= 0x80) {
        if (separates_lines(text_.substr(at_)))
          fault_ = separator;
        break;
      }
      if (!begun_)
        ++depth_; // The first part of a key.
      begun_ = true;
    }
    ++at_;
  }

  void open() {
    if (!begun_ && outer_.empty()) {
      if (!names_table(text_.substr(at_ + 1), in_header_))
        fault_ = nameless;
      in_header_ = true;
      header_ = depth_ = 0;
      return;
    }
    outer_.push_back({depth_, text_[at_]});
    ++depth_;
  }

  // Whether a header goes on, behind its first or its second bracket, as one can. A
  // header that ends too early is left to the parser.
  static bool names_table(std::string_view rest, bool second) {
    const auto at = rest.find_first_not_of(" \t");
    if (at == std::string_view::npos)
      return true;
    const char c = rest[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || std::string_view(second ? "_-\"']" : "_-\"'][").find(c)
                  != std::string_view::npos;
  }

  void close() {
    if (in_header_ || outer_.empty())
      return;
    if (text_[at_] == '}' && outer_.back().bracket == '[')
      fault_ = not_closed;
    depth_ = outer_.back().depth;
    outer_.pop_back();
  }

  void end_statement() {
    if (in_header_)
      header_ = depth_;
    depth_ = header_;
    in_header_ = begun_ = false;
  }

  void skip_text(char quote) {
    if (!begun_)
      ++depth_;
    begun_ = true;
    const std::string three(3, quote);
    const bool lines = text_.substr(at_).starts_with(three);
    at_ += lines ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n' && !lines)
        return; // A mistake; the line's end is read by `step`.
      line_ += c == '\n' ? 1 : 0;
      if (c == '\\' && quote == '"')
        line_ += ++at_ < text_.size() && text_[at_] == '\n' ? 1 : 0;
      else if (c == quote && (!lines || text_.substr(at_).starts_with(three)))
        break;
    }
    if (at_ >= text_.size())
      return;
    ++at_;
    // Up to two quotes may stand before the three that close.
    for (std::size_t more = 2;
         lines && at_ < text_.size() && text_[at_] == quote && more < 6; ++more)
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  std::size_t depth_ = 0, header_ = 0;
  struct open_bracket {
    std::size_t depth = 0; ///< Outside of it.
    char bracket = '[';
  };
  std::vector<open_bracket> outer_;
  bool in_header_ = false;
  const char* fault_ = nullptr;
  bool begun_ = false; ///< A key, or what is no blank, has begun on this line.
};

} // namespace

expected<toml::table> parse_toml(std::string_view text, std::string_view origin) {
  const std::string name(origin);
  if (text.size() > most_toml_bytes)
    return fail_in(name, {error_kind::invalid_input,
                          "is larger than " + binary_size(most_toml_bytes)});
  if (const auto fault = depth_scan(text).first_fault())
    return fail_in(fmt::format("{}:{}", name, fault->line),
                   {error_kind::invalid_input, fault->what});
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& e) {
    const auto line =
        static_cast<std::size_t>(std::max<toml::source_index>(e.source().begin.line, 1));
    return fail_in(
        fmt::format("{}:{}", name, line),
        {error_kind::invalid_input, toml_mistake(text, line, e.description())});
  }
}

} // namespace clade
