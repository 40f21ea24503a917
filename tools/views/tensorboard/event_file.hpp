#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace clade {

/// A value of a curve, for TensorBoard.
struct scalar_event {
  std::string tag;
  std::int64_t step = 0;
  double unix_seconds = 0;
  double value = 0;
};

/// A text, in Markdown.
struct text_event {
  std::string tag;
  double unix_seconds = 0;
  std::string text;
};

/// One file of events as TensorBoard reads them. Events that were added are in the file
/// after `flush`; a reader meanwhile sees whole events.
class event_file {
public:
  /// Makes the folder and in it the file, whose name comes from `created`; what was in a
  /// file of that name is gone. `io` if that cannot be.
  [[nodiscard]] static expected<event_file> create(const std::filesystem::path& folder,
                                                   double created_unix_seconds);

  void add(const scalar_event& e);
  void add(const text_event& e);
  [[nodiscard]] expected<void> flush();

private:
  event_file(std::filesystem::path path, std::ofstream out)
      : path_(std::move(path)),
        out_(std::move(out)) {}

  std::filesystem::path path_;
  std::ofstream out_;
  std::string waiting_;
};

/// An event in the frame that TFRecord files have around each.
[[nodiscard]] std::string framed(std::string_view event);

/// CRC-32C (Castagnoli), of RFC 3720.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

} // namespace clade
