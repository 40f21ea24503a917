// A text is read once, character by character. A word is kept as its characters, so that
// pieces never part one of several bytes. Exported Python does the same
// (../../export/source/text_source.cpp).

#include "engine/data/bytes/text_terms.hpp"

#include "engine/data/bytes/folded_text.hpp"
#include "genome/base/utf8.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

using namespace text_rules;

constexpr std::array<code_range, 21> separators{
    {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},
     {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x206f}, {0x20a0, 0x20cf},
     {0x2100, 0x25ff}, {0x27c0, 0x2bff}, {0x2e00, 0x2e7f}, {0x3000, 0x3004},
     {0x3008, 0x3020}, {0x3030, 0x3030}, {0xe000, 0xf8ff}, {0xfe00, 0xfe6f},
     {0xfeff, 0xfeff}, {0xff00, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40},
     {0xff5b, 0xff65}}};

constexpr std::array<code_range, 7> lone_words{{{0x2600, 0x27bf},
                                                {0x3040, 0x30ff},
                                                {0x3400, 0x4dbf},
                                                {0x4e00, 0x9fff},
                                                {0xf900, 0xfaff},
                                                {0x1f000, 0x1faff},
                                                {0x20000, 0x3ffff}}};

bool among(std::span<const code_range> ranges, std::uint32_t code) {
  return std::ranges::any_of(ranges, [code](const code_range& range) {
    return code >= range.first && code <= range.second;
  });
}

enum class character : std::uint8_t { separator, letter, lone, apostrophe };

character kind_of(std::uint32_t code) {
  if (code < 0x80) {
    const auto c = static_cast<char>(code);
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter                 ? character::letter
           : c == '!' || c == '?' ? character::lone
           : c == '\''            ? character::apostrophe
                                  : character::separator;
  }
  if (code == 0x2019)
    return character::apostrophe;
  return among(separators, code)   ? character::separator
         : among(lone_words, code) ? character::lone
                                   : character::letter;
}

class term_reader {
public:
  explicit term_reader(const std::function<void(std::string_view)>& visit)
      : visit_(visit) {}

  void read(std::string_view text) {
    for (std::size_t at = 0; at < text.size() && words_ < most_words;) {
      const auto size = utf8_length(text.substr(at));
      if (size == 0) {
        end_word();
        ++at;
        continue;
      }
      add(text.substr(at, size));
      at += size;
    }
    end_word();
  }

private:
  void add(std::string_view letter) {
    const auto code = code_point(letter);
    const auto kind = kind_of(code);
    if (kind == character::apostrophe) {
      // It counts once a letter follows.
      apostrophe_ = !apostrophe_ && !letters_.empty();
      if (!apostrophe_)
        end_word();
      return;
    }
    if (kind != character::letter)
      end_word();
    if (kind == character::separator)
      return;
    if (letters_.size() <= longest_word) {
      if (apostrophe_)
        letters_.emplace_back("'");
      const auto small = small_letter(code);
      letters_.push_back(small == code ? std::string(letter) : utf8_of(small));
    }
    apostrophe_ = false;
    if (kind == character::lone)
      end_word();
  }

  void end_word() {
    apostrophe_ = false;
    if (letters_.empty() || words_ == most_words)
      return letters_.clear();
    if (letters_.size() > longest_word) {
      last_.clear();
      return letters_.clear();
    }
    ++words_;
    word_.clear();
    for (const std::string& letter : letters_)
      word_ += letter;
    visit_(word_);
    if (!last_.empty())
      visit_(last_ + " " + word_);
    pieces();
    std::swap(last_, word_);
    letters_.clear();
  }

  void pieces() {
    letters_.insert(letters_.begin(), " ");
    letters_.emplace_back(" ");
    for (std::size_t n = least_letters; n <= most_letters && n < letters_.size(); ++n)
      for (std::size_t first = 0; first + n <= letters_.size(); ++first) {
        piece_ = "#";
        for (std::size_t i = first; i < first + n; ++i)
          piece_ += letters_[i];
        visit_(piece_);
      }
  }

  const std::function<void(std::string_view)>& visit_;
  std::vector<std::string> letters_;
  std::string word_, last_, piece_;
  bool apostrophe_ = false; ///< One stands behind the letters.
  std::size_t words_ = 0;
};

} // namespace

std::span<const code_range> text_separators() {
  return separators;
}

std::span<const code_range> text_lone_words() {
  return lone_words;
}

void each_term(std::string_view text,
               const std::function<void(std::string_view)>& visit) {
  term_reader(visit).read(text);
}

term_weigher::term_weigher(const std::vector<std::string>& terms,
                           const std::vector<double>& weights)
    : weights_(&weights) {
  places_.reserve(terms.size());
  for (const std::string& term : terms) {
    places_.emplace(term, static_cast<std::uint32_t>(places_.size()));
    pieces_.push_back(term.starts_with('#'));
  }
}

std::vector<term_weight> term_weigher::weigh(std::string_view text) const {
  std::vector<std::uint32_t> found;
  each_term(text, [&](std::string_view term) {
    if (const auto at = places_.find(term); at != places_.end())
      found.push_back(at->second);
  });
  std::ranges::sort(found);
  std::vector<std::pair<std::uint32_t, double>> weighed;
  std::array<double, 2> squares{};
  for (std::size_t i = 0; i < found.size();) {
    std::size_t n = i;
    while (n < found.size() && found[n] == found[i])
      ++n;
    const double weight =
        (1 + std::log(static_cast<double>(n - i))) * (*weights_)[found[i]];
    squares[pieces_[found[i]] ? 1 : 0] += weight * weight;
    weighed.emplace_back(found[i], weight);
    i = n;
  }
  std::vector<term_weight> out;
  const std::array lengths{std::sqrt(squares[0]), std::sqrt(squares[1])};
  for (const auto& [term, weight] : weighed)
    out.push_back({term, static_cast<float>(weight / lengths[pieces_[term] ? 1 : 0])});
  return out;
}

} // namespace clade
