#include "engine/data/converted/xml_events.hpp"

#include <expat.h>
#include <fmt/format.h>

namespace clade {
namespace {

std::string_view without_prefix(const char* name) {
  const std::string_view all(name);
  const auto colon = all.rfind(':');
  return colon == std::string_view::npos ? all : all.substr(colon + 1);
}

} // namespace

std::string_view xml_attributes::operator[](std::string_view name) const {
  for (const char** pair = pairs_; *pair != nullptr; pair += 2)
    if (name == pair[0])
      return pair[1];
  return {};
}

void xml_reader::free_parser::operator()(XML_ParserStruct* parser) const {
  XML_ParserFree(parser);
}

void xml_reader::ended(expected<void> fine) {
  if (fine || !state_)
    return;
  state_ = std::move(fine);
  XML_StopParser(parser_.get(), XML_FALSE);
}

expected<void> xml_reader::deeper() {
  constexpr std::size_t deepest = 100;
  if (++depth_ <= deepest)
    return {};
  return fail(error_kind::invalid_input, "nests deeper than any workbook");
}

xml_reader::xml_reader(xml_events& events)
    : events_(events),
      parser_(XML_ParserCreate(nullptr)) {
  if (!parser_)
    return;
  XML_SetUserData(parser_.get(), this);
  XML_SetElementHandler(
      parser_.get(),
      [](void* self, const char* name, const char** attributes) {
        auto& reader = *static_cast<xml_reader*>(self);
        if (reader.state_)
          reader.ended(reader.deeper().and_then([&] {
            return reader.events_.begin(without_prefix(name), xml_attributes(attributes));
          }));
      },
      [](void* self, const char* name) {
        auto& reader = *static_cast<xml_reader*>(self);
        --reader.depth_;
        if (reader.state_)
          reader.ended(reader.events_.end(without_prefix(name)));
      });
  XML_SetCharacterDataHandler(parser_.get(),
                              [](void* self, const char* text, int length) {
                                static_cast<xml_reader*>(self)->events_.text(
                                    {text, static_cast<std::size_t>(length)});
                              });
  // No file of Excel declares entities of its own.
  XML_SetEntityDeclHandler(parser_.get(), [](void* self, const char*, int, const char*,
                                             int, const char*, const char*, const char*,
                                             const char*) {
    static_cast<xml_reader*>(self)->ended(
        fail(error_kind::invalid_input, "declares entities, which are not read"));
  });
}

expected<void> xml_reader::parse(std::string_view piece, bool last) {
  if (!parser_)
    return fail(error_kind::io, "no memory to parse XML");
  constexpr std::uint64_t longest_mark = 16 << 20;
  given_ += piece.size();
  if (XML_Parse(parser_.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0)
      == XML_STATUS_OK) {
    const auto parsed = XML_GetCurrentByteIndex(parser_.get());
    if (last || parsed < 0 || given_ < longest_mark + static_cast<std::uint64_t>(parsed))
      return {};
    return fail(error_kind::invalid_input, "holds a mark that does not end");
  }
  if (!state_)
    return state_;
  return fail(error_kind::invalid_input,
              fmt::format("line {}: is no sound XML ({}); save the workbook again",
                          XML_GetCurrentLineNumber(parser_.get()),
                          XML_ErrorString(XML_GetErrorCode(parser_.get()))));
}

} // namespace clade
