// TFRecord: for each event, in little-endian order,
//
//   uint64  length
//   uint32  masked CRC-32C of the length
//   bytes   the event
//   uint32  masked CRC-32C of the event
//
// and an event is a protocol buffer (tensorflow/core/util/event.proto), here with the
// numbers of its fields:
//
//   Event     1 wall_time: double   2 step: int64   3 file_version: string   5 summary
//   Summary   1 value: repeated { 1 tag: string   2 simple_value: float   8 tensor
//                                 9 metadata }
//   Tensor    1 dtype = 7 (string)   2 shape { 2 dim { 1 size: int64 } }
//             8 string_val: bytes
//   Metadata  1 plugin_data { 1 plugin_name: string }
#include "tools/views/tensorboard/event_file.hpp"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <protozero/pbf_writer.hpp>

#include <array>
#include <cstdio>

namespace clade {

namespace {

using protozero::pbf_writer;

template<class Number>
void append_little_endian(std::string& to, Number n) {
  for (std::size_t i = 0; i < sizeof(n); ++i)
    to += static_cast<char>(n >> (8 * i) & 0xff);
}

/// A checksum over what holds checksums itself would be weak: so it is masked.
std::uint32_t masked_crc(std::string_view bytes) {
  const auto crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::string summary_event(double unix_seconds, std::int64_t step,
                          const std::string& value) {
  std::string event, summary;
  pbf_writer(summary).add_message(1, value);
  pbf_writer out(event);
  out.add_double(1, unix_seconds);
  out.add_int64(2, step);
  out.add_message(5, summary);
  return event;
}

/// A tensor of one text.
std::string text_tensor(const std::string& text) {
  std::string tensor, shape, dimension;
  pbf_writer(dimension).add_int64(1, 1);
  pbf_writer(shape).add_message(2, dimension);
  pbf_writer out(tensor);
  out.add_enum(1, 7);
  out.add_message(2, shape);
  out.add_bytes(8, text);
  return tensor;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  // The library only reads, and does not say so; it inverts neither end.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  return ~::crc32_iscsi(data, static_cast<int>(bytes.size()), ~0U);
}

std::string framed(std::string_view event) {
  std::string frame;
  append_little_endian(frame, static_cast<std::uint64_t>(event.size()));
  append_little_endian(frame, masked_crc(frame));
  frame += event;
  append_little_endian(frame, masked_crc(event));
  return frame;
}

expected<event_file> event_file::create(const std::filesystem::path& folder,
                                        double created_unix_seconds) {
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "events.out.tfevents.%010lld.clade",
                static_cast<long long>(created_unix_seconds));
  const auto path = folder / name.data();
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (made || !out)
    return fail(error_kind::io, fmt::format("{}: cannot be written{}", path.string(),
                                            made ? ": " + made.message() : ""));
  event_file file(path, std::move(out));
  std::string event;
  pbf_writer version(event);
  version.add_double(1, created_unix_seconds);
  version.add_string(3, "brain.Event:2");
  file.waiting_ = framed(event);
  return file;
}

void event_file::add(const scalar_event& e) {
  std::string value;
  pbf_writer out(value);
  out.add_string(1, e.tag);
  out.add_float(2, static_cast<float>(e.value));
  waiting_ += framed(summary_event(e.unix_seconds, e.step, value));
}

void event_file::add(const text_event& e) {
  std::string value, plugin, metadata;
  pbf_writer(plugin).add_string(1, "text");
  pbf_writer(metadata).add_message(1, plugin);
  pbf_writer out(value);
  out.add_string(1, e.tag);
  out.add_message(8, text_tensor(e.text));
  out.add_message(9, metadata);
  waiting_ += framed(summary_event(e.unix_seconds, 0, value));
}

expected<void> event_file::flush() {
  out_.write(waiting_.data(), static_cast<std::streamsize>(waiting_.size()));
  out_.flush();
  waiting_.clear();
  if (!out_)
    return fail(error_kind::io, path_.string() + ": cannot be written");
  return {};
}

} // namespace clade
