// A message between a run and its viewers is refused or is sent again with bytes that are
// read as the same. The first byte chooses what an input is: a topic (of a record, the
// next byte is the length of its place), a request, an answer, or what a run is told.
#include "engine/telemetry/picture/wire.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

constexpr const char* topics[] = {"record", "epoch", "slots", "alive", "none"};

/// Numbers may be NaN, so bytes are compared.
template<class Decode, class Encode, class Bytes>
int check(Decode decode, Encode encode, const Bytes& data) {
  const auto value = decode(data);
  if (!value)
    return refused(value);
  const auto written = encode(*value);
  const auto again = decode(written);
  hold(again, "what is sent can be read");
  hold(encode(*again) == written, "what is read again is sent with the same bytes");
  return 0;
}

int check_published(const std::string& topic, choices& in) {
  std::vector<bytes> parts{topic};
  if (topic == "record") {
    const std::size_t length = in.byte();
    const auto rest = in.rest();
    const auto place = std::min(length, rest.size());
    parts.emplace_back(rest.substr(0, place));
    parts.emplace_back(rest.substr(place));
  } else {
    parts.emplace_back(in.rest());
  }
  return check([](const std::vector<bytes>& p) { return decode_published(p); },
               [](const published& p) { return encode(p); }, parts);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices in(data, size);
  const auto kind = in.below(10);
  if (kind < std::size(topics))
    return check_published(topics[kind], in);
  const bytes rest(in.rest());
  switch (kind) {
  case 5:
    return check(
        decode_request, [](const request& r) { return encode(r); }, rest);
  case 6:
    return check(
        decode_snapshot,
        [](const snapshot& s) { return encode_snapshot(s.name, s.picture); }, rest);
  case 7:
    return check(
        decode_candidate_answer, [](const genome_view& g) { return encode_answer(g); },
        rest);
  case 8:
    return check(
        decode_rows_answer,
        [](const std::vector<candidate_row>& rows) { return encode_answer(rows); }, rest);
  default:
    return check(
        decode_told,
        [](const operator_command& told) { return encode_told(told.order, told.who); },
        rest);
  }
}
