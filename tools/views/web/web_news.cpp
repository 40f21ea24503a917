#include "tools/views/web/web_news.hpp"

#include "engine/telemetry/feeds/json.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

std::string event_of(const std::string& json, std::uint64_t sequence = 0) {
  std::string text;
  if (sequence != 0)
    text = fmt::format("id: {}\n", sequence);
  return fmt::format("{}data: {}\n\n", text, json);
}

std::string picture_event(const feed& f) {
  const auto& p = f.picture();
  return event_of(to_json(p, f.name(), f.showing()), p.sequence);
}

} // namespace

std::string web_news::beginning(const feed& f) const {
  auto text = picture_event(f) + event_of(to_json(news{f.slots()}, f.picture()));
  for (const auto& [id, one] : training_)
    for (const auto& event : one.events)
      text += event;
  return text;
}

std::string web_news::next(const news& n, const feed& f) {
  const auto* record = std::get_if<record_event>(&n);
  auto event =
      event_of(to_json(n, f.picture()), record != nullptr ? record->sequence : 0);
  remember(n, event);
  if (std::holds_alternative<restarted>(n))
    event += picture_event(f);
  return event;
}

void web_news::remember(const news& n, const std::string& event) {
  if (std::holds_alternative<restarted>(n)) {
    training_.clear();
  } else if (const auto* e = std::get_if<epoch_event>(&n)) {
    auto& curve = training_[e->id];
    if (e->number <= curve.last) // It is tried again.
      curve.events.clear();
    curve.last = e->number;
    if (curve.events.size() < most_epochs)
      curve.events.push_back(event);
  } else if (const auto* h = std::get_if<record_event>(&n)) {
    if (const auto* done = std::get_if<candidate_evaluated>(&h->record))
      training_.erase(done->evaluated.id);
    else if (const auto* failed = std::get_if<attempt_failed>(&h->record))
      training_.erase(failed->id);
  }
}

} // namespace clade
