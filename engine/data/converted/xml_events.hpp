#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

struct XML_ParserStruct;

namespace clade {

/// The attributes of an element.
class xml_attributes {
public:
  explicit xml_attributes(const char** pairs) : pairs_(pairs) {}

  /// The value of one; empty: it is not there.
  [[nodiscard]] std::string_view operator[](std::string_view name) const;

private:
  const char** pairs_;
};

/// Is told what a text of XML holds. Names have no prefix of their namespace, but those of
/// attributes have.
class xml_events {
public:
  xml_events() = default;
  xml_events(const xml_events&) = default;
  xml_events& operator=(const xml_events&) = default;
  xml_events(xml_events&&) = default;
  xml_events& operator=(xml_events&&) = default;
  virtual ~xml_events() = default;
  [[nodiscard]] virtual expected<void> begin(std::string_view name,
                                             const xml_attributes& with) = 0;
  [[nodiscard]] virtual expected<void> end(std::string_view) { return {}; }
  virtual void text(std::string_view) {}
};

/// Parses XML in pieces. Elements within elements and the length of a mark are bounded, and
/// there are no entities but those that every text has.
class xml_reader {
public:
  explicit xml_reader(xml_events& events);
  xml_reader(const xml_reader&) = delete;
  xml_reader& operator=(const xml_reader&) = delete;

  [[nodiscard]] expected<void> add(std::string_view piece) { return parse(piece, false); }
  [[nodiscard]] expected<void> finish() { return parse({}, true); }

private:
  struct free_parser {
    void operator()(XML_ParserStruct* parser) const;
  };
  [[nodiscard]] expected<void> parse(std::string_view piece, bool last);
  void ended(expected<void> fine);
  [[nodiscard]] expected<void> deeper();

  xml_events& events_;
  std::unique_ptr<XML_ParserStruct, free_parser> parser_;
  expected<void> state_;
  std::uint64_t given_ = 0; ///< Bytes.
  std::size_t depth_ = 0;
};

} // namespace clade
