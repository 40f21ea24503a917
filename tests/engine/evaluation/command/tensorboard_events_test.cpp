#include "engine/evaluation/command/tensorboard_events.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace clade;

namespace {

std::string length_of(std::uint64_t size) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &size, 8);
  return out;
}

/// A record of an event file; its checksums, which nobody reads, are zero.
std::string record_of(const std::string& data) {
  return length_of(data.size()) + std::string(4, '\0') + data + std::string(4, '\0');
}

/// A field of bytes, shorter than 128.
std::string field(char number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2),
                     static_cast<char>(content.size())}
         + content;
}

template<class Number>
std::string bytes_of(Number number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

std::string event_of(char step, const std::string& tag, const std::string& value) {
  return record_of(std::string("\x10") + step
                   + field(5, field(1, field(1, tag) + value)));
}

/// Returns the event as PyTorch writes it.
std::string simple(char step, const std::string& tag, float value) {
  return event_of(step, tag, "\x15" + bytes_of(value));
}

/// Returns the event as TensorFlow 2 writes it.
std::string tensor(char step, const std::string& tag, double value) {
  return event_of(step, tag,
                  field(8, std::string("\x08\x02") + field(4, bytes_of(value))));
}

evaluation read_of(const std::string& text) {
  const scratch_folder folder;
  std::filesystem::create_directories(folder.path() / "run");
  write_text(folder.path() / "run" / "events.out.tfevents.1.host", text);
  evaluation e;
  followed_events events(folder.path(), "loss", [](const auto&) {});
  events.look();
  events.answer(e);
  return e;
}

} // namespace

TEST_CASE("tensorboard events: the latest step of each scalar counts") {
  const auto e = read_of(simple(2, "loss", 0.25F) + simple(1, "loss", 0.5F)
                         + tensor(3, "accuracy/val", 0.9) + field(5, "no scalar"));
  CHECK(e.outcome == outcome::succeeded);
  CHECK(e.metrics == std::vector<metric>{{"accuracy/val", 0.9}, {"loss", 0.25}});
}

TEST_CASE("tensorboard events: a file that is cut off is read up to there") {
  const auto whole = simple(1, "loss", 0.5F);
  const auto more = simple(2, "loss", 0.25F);
  for (std::size_t cut = 0; cut + 4 < more.size(); ++cut) {
    const auto e = read_of(whole + more.substr(0, cut));
    CHECK(e.metrics == std::vector<metric>{{"loss", 0.5}});
  }
}

TEST_CASE("tensorboard events: any bytes are read or passed over") {
  CHECK(read_of("").outcome == outcome::invalid);
  CHECK(read_of(std::string(100, '\xFF')).outcome == outcome::invalid);
  CHECK(read_of(record_of("\x2A\x7F")).outcome == outcome::invalid);
}

TEST_CASE("tensorboard events: one that is not finite diverged") {
  const auto e = read_of(simple(1, "loss", std::numeric_limits<float>::quiet_NaN()));
  CHECK(e.outcome == outcome::diverged);
  CHECK(e.reason == "loss is not finite");
}

TEST_CASE("tensorboard events: each step of one scalar is told as it comes") {
  const scratch_folder folder;
  const auto file = folder.path() / "events.out.tfevents.1.host";
  std::vector<std::vector<metric>> told;
  followed_events events(folder.path(), "loss",
                         [&](std::vector<metric> values) { told.push_back(values); });
  events.look(); // There is nothing yet.
  std::string text =
      simple(0, "time", 1) + simple(0, "loss", 0.5F) + simple(0, "accuracy", 0.25F);
  write_text(file, text);
  events.look();
  CHECK(told
        == std::vector<std::vector<metric>>{
            {{"accuracy", 0.25}, {"loss", 0.5}, {"time", 1}}});
  // Two steps between two looks; the last event is not all there.
  told.clear();
  text += simple(5, "time", 2) + simple(5, "loss", 0.25F) + simple(10, "time", 3)
          + simple(10, "loss", 0.125F);
  const auto late = simple(15, "loss", 0.0625F);
  write_text(file, text + late.substr(0, 9));
  events.look();
  events.look();
  CHECK(told
        == std::vector<std::vector<metric>>{
            {{"accuracy", 0.25}, {"loss", 0.25}, {"time", 2}},
            {{"accuracy", 0.25}, {"loss", 0.125}, {"time", 3}}});
  told.clear();
  write_text(file, text + late);
  events.look();
  CHECK(told
        == std::vector<std::vector<metric>>{
            {{"accuracy", 0.25}, {"loss", 0.0625}, {"time", 3}}});
  evaluation e;
  events.answer(e);
  CHECK(e.metrics
        == std::vector<metric>{{"accuracy", 0.25}, {"loss", 0.0625}, {"time", 3}});
}
