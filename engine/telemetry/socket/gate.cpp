#include "engine/telemetry/socket/gate.hpp"

#include "engine/telemetry/socket/viewer_keys.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto note_interval = 1s;

// [version, request, domain, address, identity, "CURVE", key of 32 bytes]
constexpr std::size_t version = 0, number = 1, domain = 2, address = 3, mechanism = 5,
                      credentials = 6;

/// A CURVE key as files have it; empty for anything else.
std::string letters(const std::string& key) {
  std::array<char, 41> text{};
  if (key.size() != 32
      || zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(key.data()),
                        key.size())
             == nullptr)
    return {};
  return text.data();
}

} // namespace

gate::gate(zmq::context_t& context, gate_params params)
    : params_(std::move(params)),
      socket_(context, zmq::socket_type::rep) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
}

void gate::answer_waiting() {
  zmq::message_t part;
  while (socket_.recv(part, zmq::recv_flags::dontwait)) {
    std::vector<std::string> asked{part.to_string()};
    while (part.more() && socket_.recv(part))
      asked.push_back(part.to_string());
    asked.resize(std::max(asked.size(), credentials + 1));
    decision d;
    if (asked[mechanism] == "CURVE")
      d = decide({.domain = asked[domain],
                  .address = asked[address],
                  .key = letters(asked[credentials])});
    const std::array<std::string, 6> answer{
        asked[version],          asked[number], d.open ? "200" : "400",
        d.open ? "" : "unknown", d.name,        ""};
    for (std::size_t i = 0; i < answer.size(); ++i)
      socket_.send(zmq::buffer(answer[i]), i + 1 < answer.size()
                                               ? zmq::send_flags::sndmore
                                               : zmq::send_flags::none);
  }
}

gate::decision gate::decide(const access_request& k) {
  const auto viewer = find_viewer(params_.authority, k.key);
  if (!viewer) {
    note(fmt::format("refused a viewer from {}: its key is none of those that {} knows",
                     k.address, params_.authority.string()));
    return {};
  }
  if (k.domain == "control" && !viewer->controls) {
    note(fmt::format("refused viewer {} from {}: it may watch the run, not control it",
                     viewer->name, k.address));
    return {};
  }
  return {.open = true, .name = viewer->name};
}

void gate::note(const std::string& refusal) {
  const auto now = std::chrono::steady_clock::now();
  if (!params_.say)
    return;
  if (now < next_note_) {
    ++unnoted_;
    return;
  }
  next_note_ = now + note_interval;
  params_.say(refusal
              + (unnoted_ > 0 ? fmt::format(", and before it {} others", unnoted_) : ""));
  unnoted_ = 0;
}

} // namespace clade
