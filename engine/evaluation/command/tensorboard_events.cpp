// An event file is a list of records: the length of its data in 8 bytes, a checksum of
// that in 4, the data, a checksum of that in 4; little endian. The last may be cut off. The
// data is an `Event` of TensorFlow's event.proto:
//
//     Event         2: step    5: Summary
//     Summary       1: Value, several
//     Value         1: tag     2: simple_value, float    8: TensorProto
//     TensorProto   1: 1 float, 2 double    4: content    5: floats    6: doubles
//
// PyTorch writes scalars as simple_value, TensorFlow 2 as a tensor of one number.

#include "engine/evaluation/command/tensorboard_events.hpp"

#include "engine/evaluation/command/program_answer.hpp"
#include "genome/utf8.hpp"
#include "genome/whole_file.hpp"

#include <protozero/pbf_reader.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

namespace clade {

namespace {

constexpr std::uint64_t most_event_bytes = 256 << 20;
constexpr std::size_t most_tags = 256, longest_tag = 128;

struct latest_value {
  std::int64_t step = 0;
  double value = 0;
};

using scalars = std::map<std::string, latest_value>;

/// The one number of so many bytes.
template<class Number>
std::optional<double> number_in(protozero::data_view content) {
  Number number{};
  if (content.size() != sizeof number)
    return std::nullopt;
  std::memcpy(&number, content.data(), sizeof number);
  return number;
}

std::optional<double> read_tensor(protozero::pbf_reader tensor) {
  static_assert(std::endian::native == std::endian::little);
  std::optional<double> value;
  bool doubles = false;
  while (tensor.next())
    switch (tensor.tag_and_type()) {
    case protozero::tag_and_type(1, protozero::pbf_wire_type::varint):
      doubles = tensor.get_enum() == 2;
      break;
    case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited):
      value = doubles ? number_in<double>(tensor.get_view())
                      : number_in<float>(tensor.get_view());
      break;
    case protozero::tag_and_type(5, protozero::pbf_wire_type::length_delimited):
      value = number_in<float>(tensor.get_view());
      break;
    case protozero::tag_and_type(6, protozero::pbf_wire_type::length_delimited):
      value = number_in<double>(tensor.get_view());
      break;
    default:
      tensor.skip();
    }
  return value;
}

void read_value(protozero::pbf_reader of, std::int64_t step, scalars& into) {
  std::string tag;
  std::optional<double> value;
  while (of.next())
    switch (of.tag_and_type()) {
    case protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited):
      tag = of.get_string();
      break;
    case protozero::tag_and_type(2, protozero::pbf_wire_type::fixed32):
      value = of.get_float();
      break;
    case protozero::tag_and_type(8, protozero::pbf_wire_type::length_delimited):
      value = read_tensor(of.get_message());
      break;
    default:
      of.skip();
    }
  if (!value || tag.empty() || tag.size() > longest_tag || !is_plain_text(tag))
    return;
  const auto known = into.find(tag);
  if (known == into.end() && into.size() < most_tags)
    into.emplace(tag, latest_value{step, *value});
  else if (known != into.end() && step >= known->second.step)
    known->second = {step, *value};
}

void read_event(std::string_view data, scalars& into) {
  std::int64_t step = 0;
  std::vector<protozero::pbf_reader> summaries;
  protozero::pbf_reader event(data.data(), data.size());
  while (event.next())
    switch (event.tag_and_type()) {
    case protozero::tag_and_type(2, protozero::pbf_wire_type::varint):
      step = event.get_int64();
      break;
    case protozero::tag_and_type(5, protozero::pbf_wire_type::length_delimited):
      summaries.push_back(event.get_message());
      break;
    default:
      event.skip();
    }
  for (auto& summary : summaries)
    while (summary.next(1, protozero::pbf_wire_type::length_delimited))
      read_value(summary.get_message(), step, into);
}

void read_file(std::string_view text, scalars& into) {
  constexpr std::size_t header = 12, footer = 4;
  while (text.size() >= header) {
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), sizeof length);
    if (length > text.size() - header)
      return; // Cut off, or no such file.
    try {
      read_event(text.substr(header, length), into);
    } catch (const protozero::exception&) {
      return; // What follows a damaged event means nothing.
    }
    text.remove_prefix(std::min<std::size_t>(text.size(), header + length + footer));
  }
}

} // namespace

void read_events(const std::filesystem::path& folder, evaluation& e) {
  scalars found;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(folder, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    if (at->path().filename().string().find("tfevents") == std::string::npos)
      continue;
    const auto text = read_whole_file(at->path(), {.most_bytes = most_event_bytes});
    if (!text)
      return fail_with(e, outcome::invalid, text.error().message);
    read_file(*text, found);
  }
  if (found.empty())
    return fail_with(e, outcome::invalid,
                     "the program wrote no scalars for TensorBoard into "
                     "{tensorboard_folder}");
  for (const auto& [tag, latest] : found) {
    if (!std::isfinite(latest.value))
      return fail_with(e, outcome::diverged, tag + " is not finite");
    e.metrics.push_back({tag, latest.value});
  }
}

} // namespace clade
