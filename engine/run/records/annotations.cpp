#include "engine/run/records/annotations.hpp"

#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

tl::unexpected<error> refused(const std::string& what) {
  return fail(error_kind::invalid_input, what);
}

std::string subject_of(const instruction& i) {
  return i.number == 0 ? "the run" : numbered(i.number);
}

expected<void> check_note(const std::string& note) {
  if (note.size() > annotation::longest_note)
    return refused(fmt::format("a note has at most {} bytes; this one has {}",
                               annotation::longest_note, note.size()));
  if (!is_plain_text(note))
    return refused("a note is UTF-8 without control characters");
  return {};
}

expected<void> check_tag(const std::string& tag) {
  if (tag.empty() || tag.size() > annotation::longest_tag || !is_plain_text(tag)
      || tag.find_first_of(" \t\n,\"") != std::string::npos)
    return refused(fmt::format("a tag is one word of at most {} bytes, without blanks, "
                               "commas, quotes and control characters",
                               annotation::longest_tag));
  return {};
}

} // namespace

bool annotates(const instruction& i) {
  return i.kind == instruction_kind::note || i.kind == instruction_kind::tag
         || i.kind == instruction_kind::untag;
}

expected<void> check_annotation(const instruction& i, const annotations& known,
                                std::uint64_t born) {
  if (i.number > born)
    return refused(fmt::format("there is no candidate #{}", i.number));
  if (i.kind == instruction_kind::note)
    return check_note(i.text);
  if (auto fits = check_tag(i.text); !fits)
    return fits;
  const auto found = known.find(i.number);
  const bool has = found != known.end() && found->second.tags.contains(i.text);
  if (i.kind == instruction_kind::untag && !has)
    return refused(fmt::format("{} has no tag {}", subject_of(i), i.text));
  if (i.kind == instruction_kind::tag && has)
    return refused(fmt::format("{} has the tag {} already", subject_of(i), i.text));
  if (i.kind == instruction_kind::tag && found != known.end()
      && found->second.tags.size() >= annotation::most_tags)
    return refused(fmt::format("{} has {} tags, which is the most: take one away first",
                               subject_of(i), annotation::most_tags));
  return {};
}

void annotate(annotations& known, const operator_command& told, std::int64_t unix_ms) {
  const auto& order = told.order;
  if (!annotates(order))
    return;
  auto& one = known[order.number];
  if (order.kind == instruction_kind::tag) {
    one.tags.insert(order.text);
  } else if (order.kind == instruction_kind::untag) {
    one.tags.erase(order.text);
  } else {
    one.note = order.text;
    one.who = order.text.empty() ? "" : told.who;
    one.unix_ms = order.text.empty() ? 0 : unix_ms;
  }
  if (one == annotation{})
    known.erase(order.number);
}

std::string tags_text(const annotation& a) {
  return joined(a.tags, " ");
}

} // namespace clade
