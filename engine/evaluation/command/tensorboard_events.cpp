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

#include "genome/base/unique_fd.hpp"
#include "genome/base/utf8.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t most_record_bytes = 256 << 20, block_bytes = 1 << 20;
constexpr std::size_t most_tags = 256, longest_tag = 128;

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

/// A scalar and its value; an empty tag where there is none that can be shown.
std::pair<std::string, double> read_value(protozero::pbf_reader of) {
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
  if (!value || tag.size() > longest_tag || !is_plain_text(tag))
    tag.clear();
  return {std::move(tag), value.value_or(0)};
}

} // namespace

void followed_events::look() {
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(folder_, failed), end;
  for (; !failed && at != end; at.increment(failed))
    if (at->path().filename().string().find("tfevents") != std::string::npos)
      read_new(at->path());
  tell();
}

void followed_events::read_new(const std::filesystem::path& file) {
  auto& state = files_[file];
  if (state.damaged)
    return;
  const unique_fd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) {
    trouble_ = fmt::format("{}: {}", file.string(), std::strerror(errno));
    return;
  }
  std::string block(block_bytes, '\0');
  ssize_t count = 0;
  while (!state.damaged
         && (count = ::pread(open.get(), block.data(), block.size(),
                             static_cast<off_t>(state.at)))
                > 0) {
    state.at += static_cast<std::uint64_t>(count);
    state.rest.append(block, 0, static_cast<std::size_t>(count));
    read_records(state);
  }
}

// The bytes that follow a damaged record mean nothing.
void followed_events::read_records(file_state& state) {
  constexpr std::size_t header = 12, footer = 4;
  std::string_view text = state.rest;
  while (text.size() >= header) {
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), sizeof length);
    if (length > most_record_bytes) {
      state.damaged = true;
      break;
    }
    if (text.size() < header + length + footer)
      break; // Its end has yet to come.
    try {
      read_event(text.substr(header, length));
    } catch (const protozero::exception&) {
      state.damaged = true;
      break;
    }
    text.remove_prefix(header + length + footer);
  }
  state.rest.erase(0,
                   state.damaged ? std::string::npos : state.rest.size() - text.size());
}

void followed_events::read_event(std::string_view data) {
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
    while (summary.next(1, protozero::pbf_wire_type::length_delimited)) {
      const auto [tag, value] = read_value(summary.get_message());
      if (!tag.empty())
        take(tag, {step, value});
    }
}

void followed_events::take(const std::string& tag, value_at v) {
  const auto known = scalars_.find(tag);
  if (known == scalars_.end()) {
    if (scalars_.size() < most_tags) {
      scalars_.emplace(tag, scalar{.last = v, .before = {}});
      untold_ = untold_ || tag == told_by_;
    }
    return;
  }
  auto& s = known->second;
  if (v.step < s.last.step)
    return;
  if (v.step == s.last.step) {
    s.last = v;
    return;
  }
  if (tag == told_by_)
    tell();
  s = {.last = v, .before = s.last, .has_before = true};
  untold_ = untold_ || tag == told_by_;
}

// Others that were written before it may be a step ahead already.
void followed_events::tell() {
  if (!std::exchange(untold_, false))
    return;
  const auto now = scalars_.at(told_by_).last.step;
  std::vector<metric> values;
  for (const auto& [tag, s] : scalars_) {
    const auto* v = s.last.step <= now                     ? &s.last
                    : s.has_before && s.before.step <= now ? &s.before
                                                           : nullptr;
    if (v != nullptr && std::isfinite(v->value))
      values.push_back({tag, v->value});
  }
  on_step_(std::move(values));
}

void followed_events::answer(evaluation& e) const {
  if (!trouble_.empty())
    return fail_with(e, outcome::invalid, trouble_);
  if (scalars_.empty())
    return fail_with(e, outcome::invalid,
                     "the program wrote no scalars for TensorBoard into "
                     "{tensorboard_folder}");
  for (const auto& [tag, s] : scalars_) {
    if (!std::isfinite(s.last.value))
      return fail_with(e, outcome::diverged, tag + " is not finite");
    e.metrics.push_back({tag, s.last.value});
  }
}

} // namespace clade
